import { matcherOf } from '../../plugins/parse/matcher.ts'

/** The names that the tools of this host have in other programs, for which many hooks are written. */
const otherNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['run', ['Bash']],
  ['read', ['Read']],
  ['edit', ['Edit']],
  ['write', ['Write']],
  ['search', ['Grep']],
  ['list', ['LS']],
])

/** Whether a matcher covers a tool, under any of its names. Without a matcher or a tool: true. */
export function matches(matcher: string | undefined, tool: string | undefined): boolean {
  if (matcher === undefined || tool === undefined) return true
  const covers = matcherOf(matcher)
  return covers !== undefined && [tool, ...(otherNames.get(tool) ?? [])].some(covers)
}
