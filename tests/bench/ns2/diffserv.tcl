# What both scenarios are made of: an edge that marks with token buckets, a core with a RIO bottleneck, one sink.
#
# The DiffServ module and its commands: ns manual, chapter 9. Code point 10 is IN, 11 is OUT; sizes are of IP packets.

proc plain_link {ns a b rate delay} {
  $ns duplex-link $a $b $rate $delay DropTail
  $ns queue-limit $a $b 10000
  $ns queue-limit $b $a 10000
}

proc dsred_link {ns from to rate delay kind packet limit} {
  $ns simplex-link $from $to $rate $delay dsRED/$kind
  $ns simplex-link $to $from $rate $delay DropTail
  $ns queue-limit $to $from 10000
  set queue [[$ns link $from $to] queue]
  $queue meanPktSize $packet
  $queue set limit_ $limit
  $queue set numQueues_ 1
  $queue setNumPrec 2
  $queue addPHBEntry 10 0 0
  $queue addPHBEntry 11 0 1
  return $queue
}

# Marks, and drops nothing: its thresholds lie beyond its limit (a probability of 0 is an error to the module).
proc edge_link {ns edge core rate delay packet} {
  set queue [dsred_link $ns $edge $core $rate $delay edge $packet 10000]
  $queue configQ 0 0 10000 10001 1
  $queue configQ 0 1 10000 10001 1
  $queue addPolicerEntry TokenBucket 10 11
  return $queue
}

# `in` and `out`: {min max pmax}.
proc rio_link {ns core sink rate delay packet limit in out} {
  set queue [dsred_link $ns $core $sink $rate $delay core $packet $limit]
  $queue setMREDMode RIO-C 0
  eval $queue configQ 0 0 $in
  eval $queue configQ 0 1 $out
  return $queue
}

# A line for each flow; Queue/dsRED's printStats adds the bottleneck's counts by code point.
proc report {name sent received_bytes} {
  puts "flow=$name sent_packets=$sent received_bytes=$received_bytes"
}
