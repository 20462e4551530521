import { glob } from '@atrium/protocol/text/glob'

/** The names that other programs give to the tools of this host. Hooks are often written for those. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['run', 'Bash'],
  ['search', 'Grep'],
  ['list', 'LS'],
])

/**
 * Whether a matcher covers a tool. A matcher names tools with `|` between them, and `.*` stands for any text. Other regular
 * expressions match nothing: a hostile one could keep the host busy for ever (S-25).
 */
export function matches(matcher: string | undefined, tool: string | undefined): boolean {
  if (matcher === undefined || tool === undefined) return true
  const names = [tool, otherNames.get(tool)].flatMap((name) => name?.toLowerCase() ?? [])
  return alternatives(matcher).some((pattern) => {
    if (/[^\w.:*-]/.test(pattern.replaceAll('.*', '*'))) return false
    const matched = glob(pattern.replaceAll('.*', '*').toLowerCase())
    return matched !== undefined && names.some(matched)
  })
}

function alternatives(matcher: string): readonly string[] {
  return matcher
    .replace(/^\^?\(?/, '')
    .replace(/\)?\$?$/, '')
    .split('|')
    .map((part) => part.replace(/^\^/, '').replace(/\$$/, ''))
}
