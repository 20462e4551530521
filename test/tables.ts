import { limitTable } from '@atrium/protocol/limits'
import { fields } from '../packages/cli/src/serve/config-fields.ts'
import { parts } from '../packages/host/src/parts.ts'
import { actionRoles, commandRoles } from '../packages/host/src/parts/roles/needed-roles.ts'
import { rootConfig } from '../packages/host/src/parts/root/root.ts'

const sizes = { Gi: 2 ** 30, Mi: 2 ** 20, Ki: 2 ** 10 }
const times = { days: 86_400_000, h: 3_600_000, min: 60_000, s: 1000 }

/** The tables of pages that the code knows, as Markdown. A page names one in `<!-- table: NAME -->`. */
export const tables: ReadonlyMap<string, string> = new Map([
  [
    'limits',
    table(
      ['limit', 'value', 'rule', 'past it'],
      Object.entries(limitTable).map(([name, { value, unit, rule, past }]) => [
        name,
        measure(value, unit),
        rule,
        past,
      ]),
    ),
  ],
  ['commands', table(['role', 'commands'], rolesOf(commandRoles))],
  [
    'further commands',
    table(['role', 'further commands'], rolesOf(Object.assign({}, ...parts.map(({ roles }) => roles)))),
  ],
  ['actions', table(['role', 'actions'], rolesOf(actionRoles))],
  [
    'settings',
    table(
      ['setting', 'flag', 'variable', 'what it does', 'must be'],
      Object.entries(fields).map(([key, { flag, variable, wants, about }]) => [
        code(key),
        flag === undefined ? '' : code(flag),
        code(variable),
        about,
        wants,
      ]),
    ),
  ],
  [
    'root config',
    table(
      ['setting', 'what it does'],
      Object.entries(rootConfig.properties).map(([key, { description = '' }]) => [code(key), description]),
    ),
  ],
])

/** A page with each table written anew. */
export function withTables(page: string): string {
  return page.replaceAll(/^<!-- table: (.+) -->\n[^]*?^<!-- end -->$/gm, (_, name: string) => {
    const found = tables.get(name)
    if (found === undefined)
      throw new Error(`there is no table ${name}; there are ${[...tables.keys()].join(', ')}`)
    return `<!-- table: ${name} -->\n\n${found}\n\n<!-- end -->`
  })
}

/** A row for each role, with the names that need it. */
function rolesOf(needed: { readonly [name: string]: unknown }): readonly (readonly string[])[] {
  const named = new Map<string, string[]>()
  for (const [name, role] of Object.entries(needed)) {
    // A role that depends on the content is a function.
    const key = typeof role === 'string' ? role : 'prompt or own'
    named.set(key, [...(named.get(key) ?? []), code(name)])
  }
  return [...named].map(([role, names]) => [role, names.join(', ')])
}

/** A value with its unit as people read it: `4 MiB`, `64 Ki characters`, `10 s`. */
function measure(value: number, unit: string): string {
  const [, kind = '', rest = ''] = /^(ms|bytes|characters)(.*)$/.exec(unit) ?? []
  const steps = Object.entries(kind === 'ms' ? times : kind === '' ? {} : sizes)
  const [name, size] = steps.find(([, each]) => value % each === 0) ?? []
  if (name === undefined || size === undefined) return `${value.toLocaleString('en-US')} ${unit}`
  const scaled = (value / size).toLocaleString('en-US')
  return kind === 'ms'
    ? `${scaled} ${name}${rest}`
    : `${scaled} ${name}${kind === 'bytes' ? 'B' : ' characters'}${rest}`
}

function code(text: string): string {
  return `\`${text}\``
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |'))
    .join('\n')
}
