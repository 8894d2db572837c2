# SPDX-License-Identifier: BSD-3-Clause
# Several test files as one. Each keeps to itself what stands in its unnamed namespace, which becomes one of its own name;
# messages name the file and line that they mean.
FNR == 1 {
  name = FILENAME
  gsub(/.*\/|\.cc$/, "", name)
  printf "#line 1 \"%s\"\n", FILENAME
}
/^namespace \{$/ { print "namespace in_" name " {"; next }
{ print }
