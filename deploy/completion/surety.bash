# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Bash completion of surety, surety-endpoint, surety-lab and surety-gtcp: each lists the possible words itself, with the names of
# running routers.
_surety() {
  local line=${COMP_LINE:0:COMP_POINT} words current candidate before
  read -ra words <<<"$line"
  case $line in *[[:space:]]) words+=("") ;; esac
  current=${words[-1]}
  before=${current%"${current##*[=:]}"} # bash completes only what is behind these
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate=${candidate%%$'\t'*}
    case $candidate in
      :files) compopt -o default ;;
      *=) compopt -o nospace ;;&
      *) COMPREPLY+=("${candidate#"$before"}") ;;
    esac
  done < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
}
complete -F _surety surety surety-endpoint surety-lab surety-gtcp
