import { gaps } from '@atrium/protocol/versions/gaps'
import { versions } from '@atrium/protocol/versions/negotiate'
import { limitTable } from '@atrium/protocol/limits'
import { fields } from '../packages/cli/src/serve/config-fields.ts'
import { parts } from '../packages/host/src/parts.ts'
import { actionRoles, commandRoles } from '../packages/host/src/parts/roles/roles.ts'
import { rootConfig } from '../packages/host/src/parts/root/root.ts'

/** The tables of pages that the code knows, as Markdown. A page names one in `<!-- table: NAME -->`. */
export const tables: ReadonlyMap<string, string> = new Map([
  [
    'limits',
    table(
      ['limit', 'value', 'unit', 'rule', 'past it'],
      Object.entries(limitTable).map(([name, { value, unit, rule, past }]) => [
        name,
        value.toLocaleString('en-US'),
        unit,
        rule,
        past,
      ]),
    ),
  ],
  ['commands', table(['command', 'role'], rolesOf(commandRoles))],
  [
    'further commands',
    table(['further command', 'role'], rolesOf(Object.assign({}, ...parts.map(({ roles }) => roles)))),
  ],
  ['actions', table(['action', 'role'], rolesOf(actionRoles))],
  [
    'gaps',
    table(
      ['Versions', 'Channel', 'What', 'Why'],
      gaps.map(({ upTo, downTo = versions[0], kind, what, reason }) => [
        downTo === versions[0] ? `up to ${upTo}` : `${downTo} to ${upTo}`,
        kind,
        what,
        reason,
      ]),
    ),
  ],
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

function rolesOf(needed: { readonly [name: string]: unknown }): readonly (readonly string[])[] {
  // A role that depends on the content is a function.
  return Object.entries(needed).map(([name, role]) => [
    code(name),
    typeof role === 'string' ? role : 'prompt or own',
  ])
}

function code(text: string): string {
  return `\`${text}\``
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |'))
    .join('\n')
}
