# SPDX-License-Identifier: BSD-3-Clause
"""A real interactive shell on a terminal, whose completion is asked by its keys."""
import os
import pty
import re
import select
import time

START, PATIENCE = "<" * 3, 20
BASH = r"""
bind 'set bell-style none'; bind 'set enable-bracketed-paste off'
bind -x '"\C-xs": printf "\n<""<<%s>>>\n" "$READLINE_LINE"'
bind '"\C-xa": insert-completions'
"""
ZSH = r"""
unsetopt zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; zstyle ':completion:*' menu no; setopt no_list_beep
fpath=({0} $fpath); autoload -Uz compinit; compinit -u -D
every() {{ _main_complete; compstate[insert]=all }}; zle -C every complete-word every; bindkey '^Xa' every
said() {{ print; print -r -- "<""<<$BUFFER>>>" }}; zle -N said; bindkey '^Xs' said
"""


class Shell:
    """`complete(line)`: the line after Tab; `every(line)`: the words that Tab could have made of the last."""

    def __init__(self, command, setup, environment):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, {**os.environ, "TERM": "dumb", "PS1": "", "HISTFILE": "/dev/null", **environment})
        self.read = ""
        self._type(setup + "\nprintf '<''<<ready>>>\\n'\n")
        assert self._answer() == "ready"

    def complete(self, line):
        return self._ask(line, "\t")

    def every(self, line):
        return self._ask(line, "\x18a").removeprefix(line.rpartition(" ")[0]).split()

    def close(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def _ask(self, line, key):
        self._type("\x15" + line + key + "\x18s")
        answer = self._answer()
        self._type("\x15\x15")
        return answer

    def _type(self, text):
        os.write(self.terminal, text.encode())

    def _answer(self):
        until = time.monotonic() + PATIENCE
        while not (found := re.search(r"<<<(.*?)>>>", self.read, re.S)):
            left = until - time.monotonic()
            assert left > 0 and select.select([self.terminal], [], [], left)[0], f"the shell says nothing more: {self.read!r}"
            self.read += os.read(self.terminal, 65536).decode(errors="replace")
        self.read = self.read[found.end():]
        return found[1].replace("\r\n", "")


def bash(script, enter, environment):
    return Shell([*enter, "bash", "--norc", "--noprofile", "-i"], BASH + f"source {script}", environment)


def zsh(directory, enter, environment):
    return Shell([*enter, "zsh", "-f", "-i"], ZSH.format(directory), environment)
