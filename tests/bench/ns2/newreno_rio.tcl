# Four NewReno flows with contracts of 5 Mb/s each share 30 Mb/s: ns newreno_rio.tcl SEED SECONDS
#
# The same as tests/bench/lab_newreno_rio.yaml.
source [file join [file dirname [info script]] diffserv.tcl]
lassign $argv seed seconds

set ns [new Simulator]
ns-random $seed
set jitter [new RNG]
set edge [$ns node]
set core [$ns node]
set sink [$ns node]
set marker [edge_link $ns $edge $core 100Mb 1ms 1000]
set bottleneck [rio_link $ns $core $sink 30Mb 2ms 1000 100 {40 70 0.02} {10 40 0.1}]

set flow 0
foreach access {7ms 17ms 27ms 37ms} {
  set host($flow) [$ns node]
  plain_link $ns $host($flow) $edge 100Mb $access
  $marker addPolicyEntry [$host($flow) id] [$sink id] TokenBucket 10 5000000 30000

  set tcp($flow) [new Agent/TCP/Newreno]
  $tcp($flow) set packetSize_ 960
  $tcp($flow) set window_ 1000
  set receiver($flow) [new Agent/TCPSink]
  $ns attach-agent $host($flow) $tcp($flow)
  $ns attach-agent $sink $receiver($flow)
  $ns connect $tcp($flow) $receiver($flow)
  set ftp [new Application/FTP]
  $ftp attach-agent $tcp($flow)
  $ns at [$jitter uniform 0 0.1] "$ftp start"
  incr flow
}

proc finish {} {
  global bottleneck tcp receiver
  foreach i [lsort [array names tcp]] {
    report f$i [$tcp($i) set ndatapack_] [$receiver($i) set bytes_]
  }
  $bottleneck printStats
  exit 0
}
$ns at $seconds finish
$ns run
