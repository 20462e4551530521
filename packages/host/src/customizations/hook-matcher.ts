import { matcherOf } from '../plugins/parse/matcher.ts'

/** The names that other programs give to the tools of this host. Hooks are often written for those. */
const otherNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['run', ['Bash']],
  ['read', ['Read']],
  ['edit', ['Edit']],
  ['write', ['Write']],
  ['search', ['Grep']],
  ['list', ['LS']],
])

/** Whether a matcher covers a tool, under its own name or under the name that other programs give to it. */
export function matches(matcher: string | undefined, tool: string | undefined): boolean {
  if (matcher === undefined || tool === undefined) return true
  const covers = matcherOf(matcher)
  return covers !== undefined && [tool, ...(otherNames.get(tool) ?? [])].some(covers)
}
