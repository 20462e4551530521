import type { Command } from 'commander'

/** A command as the completion scripts need it. */
export interface CompletedCommand {
  readonly name: string
  readonly about: string
  readonly flags: readonly { readonly long: string; readonly about: string }[]
  /** The kind of the first argument, or its possible values. */
  readonly first: 'session' | 'folder' | readonly string[]
}

/** Returns all commands that the help shows. */
export function completedCommands(program: Command): readonly CompletedCommand[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => {
      const [argument] = command.registeredArguments
      const name = argument?.name()
      const words = argument?.argChoices ?? command.commands.map((each) => each.name())
      const options = [command, ...command.commands].flatMap((each) => each.options)
      const flags = new Map(
        options.flatMap(({ long, description }) => (long ? [[long, description] as const] : [])),
      )
      return {
        name: command.name(),
        about: command.description(),
        flags: [...flags].map(([long, about]) => ({ long, about })),
        first: name === 'sessions' ? 'session' : name === 'session' || name === 'folder' ? name : words,
      }
    })
}

export const scripts = { bash, zsh, fish }
export type Shell = keyof typeof scripts

function bash(all: readonly CompletedCommand[]): string {
  return `# For ~/.bashrc: source <(atrium completion bash)
_atrium() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" flags='' words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${namesOf(all)}' -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${all.map((each) => `    ${each.name}) flags='${flagsOf(each)}' words='${wordsOf(each)}' ;;`).join('\n')}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")); return ;;
  esac
  [ "$COMP_CWORD" -eq 2 ] || { COMPREPLY=($(compgen -f -- "$cur")); return; }
  case "$words" in
    @session) COMPREPLY=($(compgen -W "$(atrium __names 2>/dev/null | cut -f1)" -- "$cur")) ;;
    @folder) COMPREPLY=($(compgen -d -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
complete -F _atrium atrium
`
}

function zsh(all: readonly CompletedCommand[]): string {
  const described = all.map(({ name, about }) => quoted(`${name}:${about}`)).join(' ')
  const cases = all.map((each) => {
    const flags = each.flags.map(({ long, about }) => quoted(`${long}:${about}`)).join(' ')
    return `    ${each.name}) flags=(${flags}) words_of='${wordsOf(each)}' ;;`
  })
  return `#compdef atrium
# For ~/.zshrc: source <(atrium completion zsh)
_atrium() {
  local -a verbs flags names
  local words_of='' name title
  verbs=(${described})
  if (( CURRENT == 2 )); then
    _describe 'command' verbs
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe 'flag' flags
    return
  fi
  (( CURRENT == 3 )) || { _files; return }
  case $words_of in
    @session)
      while IFS=$'\\t' read -r name title; do
        names+=("$name:\${title//:/ }")
      done < <(atrium __names 2>/dev/null)
      _describe 'session' names ;;
    @folder) _files -/ ;;
    *) compadd -- \${=words_of} ;;
  esac
}
if [ "$funcstack[1]" = _atrium ]; then _atrium "$@"; else compdef _atrium atrium; fi
`
}

function fish(all: readonly CompletedCommand[]): string {
  const verb = ({ name, about }: CompletedCommand) =>
    `complete -c atrium -f -n __fish_use_subcommand -a ${name} -d ${quoted(about)}`
  const rest = (each: CompletedCommand) => {
    const there = `-n '__fish_seen_subcommand_from ${each.name}'`
    const words =
      each.first === 'session'
        ? `-f ${there} -a '(atrium __names 2>/dev/null)'`
        : each.first === 'folder'
          ? `${there} -a '(__fish_complete_directories)'`
          : `${there} -a '${each.first.join(' ')}'`
    const flags = each.flags.map(
      ({ long, about }) => `complete -c atrium ${there} -l ${long.slice(2)} -d ${quoted(about)}`,
    )
    return [`complete -c atrium ${words}`, ...flags].join('\n')
  }
  return `# For ~/.config/fish/completions/atrium.fish
${[...all.map(verb), ...all.map(rest)].join('\n')}
`
}

function namesOf(all: readonly CompletedCommand[]): string {
  return all.map(({ name }) => name).join(' ')
}

function flagsOf({ flags }: CompletedCommand): string {
  return flags.map(({ long }) => long).join(' ')
}

/** Returns the possible words. A word with an @ is a placeholder that the script replaces with live names. */
function wordsOf({ first }: CompletedCommand): string {
  return typeof first === 'string' ? `@${first}` : first.join(' ')
}

/**
 * Quotes a text for all three shells. The shells escape apostrophes and backslashes in different ways, so both characters
 * are replaced.
 */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`
}
