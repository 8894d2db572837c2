# The gTFRC paper's Fig. 2(a), TFRC with a plain marker: ns gtfrc_fig2a.tcl SEED SECONDS
#
# The same as tests/bench/lab_gtfrc_fig2a.yaml.
source [file join [file dirname [info script]] diffserv.tcl]
lassign $argv seed seconds

set ns [new Simulator]
ns-random $seed
set jitter [new RNG]
set edge [$ns node]
set core [$ns node]
set sink [$ns node]
set marker [edge_link $ns $edge $core 10Mb 1ms 1500]
set bottleneck [rio_link $ns $core $sink 1Mb 2ms 1500 50 {20 40 0.02} {10 20 0.1}]

foreach {name target access} {long 800000 317ms short 200000 17ms} {
  set host($name) [$ns node]
  plain_link $ns $host($name) $edge 10Mb $access
  $marker addPolicyEntry [$host($name) id] [$sink id] TokenBucket 10 $target 10000

  set tfrc($name) [new Agent/TFRC]
  $tfrc($name) set useHeaders_ false
  $tfrc($name) set packetSize_ 1500
  set receiver($name) [new Agent/TFRCSink]
  $ns attach-agent $host($name) $tfrc($name)
  $ns attach-agent $sink $receiver($name)
  $ns connect $tfrc($name) $receiver($name)
  $ns at [$jitter uniform 0 0.1] "$tfrc($name) start"
}

set feedback [$ns monitor-queue $sink $core ""]

proc finish {} {
  global bottleneck tfrc receiver feedback
  foreach name {long short} {
    report $name [$tfrc($name) set ndatapack_] [$receiver($name) set bytes_]
  }
  puts "feedback_packets=[$feedback set pdepartures_]"
  $bottleneck printStats
  exit 0
}
$ns at $seconds finish
$ns run
