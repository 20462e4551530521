# The startup script of bash in a terminal, in place of ~/.bashrc. The host writes lines before this one that set
# __atrium_nonce, a secret of this shell, and __atrium_login if the shell acts as a login shell.

if [[ -n ${__atrium_login-} ]]; then
  if [[ -r /etc/profile ]]; then . /etc/profile; fi
  for __atrium_file in ~/.bash_profile ~/.bash_login ~/.profile; do
    if [[ -r $__atrium_file ]]; then
      . "$__atrium_file"
      break
    fi
  done
elif [[ -r ~/.bashrc ]]; then
  . ~/.bashrc
fi
unset __atrium_login __atrium_file

# PS0 exists since bash 4.4. It runs before each command, so the user's DEBUG trap stays free.
if [[ $- == *i* ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
  __atrium_number=
  __atrium_ps0='$({ __atrium_executed; } 2>/dev/null)'

  __atrium_mark() { builtin printf '\e]633;%s;%s\a' "$1" "$__atrium_nonce"; }

  __atrium_escaped() {
    local text=${1:0:8192}
    text=${text//\\/\\\\}
    text=${text//;/\\x3b}
    text=${text//$'\n'/\\x0a}
    text=${text//$'\t'/\\x09}
    builtin printf '%s' "${text//[[:cntrl:]]/}"
  }

  # Always called in a subshell, because the match changes BASH_REMATCH.
  __atrium_newest() {
    local newest
    newest=$(HISTTIMEFORMAT='' builtin history 1)
    [[ $newest =~ ^\ *([0-9]+)[*\ ]\ (.*)$ ]] || return
    if [[ $1 == number ]]; then
      builtin printf '%s' "${BASH_REMATCH[1]}"
    elif [[ ${BASH_REMATCH[1]} != "$__atrium_number" ]] || __atrium_repeats; then
      __atrium_escaped "${BASH_REMATCH[2]}"
    fi
  }

  # Whether a line that added no history entry must be a repetition of the last entry. If not, the user may have kept the
  # line out of the history on purpose, and then no line is reported.
  __atrium_repeats() {
    case :${HISTCONTROL-}: in
      *:ignoreboth:* | *:ignorespace:*) return 1 ;;
      *:ignoredups:* | *:erasedups:*) [[ -z ${HISTIGNORE-} ]] ;;
      *) return 1 ;;
    esac
  }

  __atrium_executed() {
    __atrium_mark "E;$(__atrium_newest line)"
    __atrium_mark C
  }

  __atrium_prompt() {
    local code=$?
    {
      __atrium_mark "D;$code"
      __atrium_mark "P;Cwd=$(__atrium_escaped "$PWD")"
      __atrium_mark A
    } >/dev/tty
    __atrium_number=$(__atrium_newest number)
    if ! shopt -q promptvars; then
      PS0=${PS0//"$__atrium_ps0"/}
    elif [[ ${PS0-} != *"$__atrium_ps0"* ]]; then
      PS0=${PS0-}$__atrium_ps0
    fi
    return "$code"
  }

  # The redirection hides the call from `set -x`. Since bash 5.1, PROMPT_COMMAND may be an array. Each of its elements
  # finds the exit status of the user's command in $?.
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    PROMPT_COMMAND=('{ __atrium_prompt || :; } 2>/dev/null' "${PROMPT_COMMAND[@]}")
  else
    PROMPT_COMMAND="{ __atrium_prompt; } 2>/dev/null${PROMPT_COMMAND:+;$PROMPT_COMMAND}"
    declare +x PROMPT_COMMAND
  fi
fi
