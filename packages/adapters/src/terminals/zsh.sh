# The .zshenv of zsh in a terminal. The host writes lines before this one that set __atrium_nonce, a secret of this shell,
# and __atrium_zdotdir, the user's ZDOTDIR, if there is one. Afterwards zsh reads the user's other startup files itself.

if (( ${+__atrium_zdotdir} )); then
  export ZDOTDIR=$__atrium_zdotdir
  unset __atrium_zdotdir
else
  unset ZDOTDIR
fi
if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
  source "${ZDOTDIR:-$HOME}/.zshenv"
fi

if [[ -o interactive ]]; then
  __atrium_mark() {
    builtin printf '\e]633;%s;%s\a' "$1" "$__atrium_nonce" 2>/dev/null >/dev/tty
  }

  __atrium_escaped() {
    emulate -L zsh
    local text=${1[1,8192]}
    text=${text//\\/\\\\}
    text=${text//;/\\x3b}
    text=${text//$'\n'/\\x0a}
    text=${text//$'\t'/\\x09}
    builtin printf '%s' "${text//[[:cntrl:]]/}"
  }

  __atrium_precmd() {
    local code=$?
    emulate -L zsh
    setopt noxtrace
    __atrium_mark "D;$code"
    __atrium_mark "P;Cwd=$(__atrium_escaped "$PWD")"
    __atrium_mark A
  }

  __atrium_preexec() {
    emulate -L zsh
    setopt noxtrace
    __atrium_mark "E;$(__atrium_escaped "${1:-$3}")"
    __atrium_mark C
  }

  typeset -ga precmd_functions preexec_functions
  precmd_functions=(__atrium_precmd $precmd_functions)
  preexec_functions=($preexec_functions __atrium_preexec)
fi
