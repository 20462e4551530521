import type { AgentInfo } from '@atrium/protocol/root/state'
import { onOneLine } from '../terminal/output.ts'
import { ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/**
 * Reports how many of the plugins and customization folders that every session has work, and why the others do not.
 */
export function pluginFindings(agents: readonly Pick<AgentInfo, 'customizations'>[]): readonly Finding[] {
  // Every agent lists the customizations of the host, so each customization is kept once.
  const all = new Map(
    agents.flatMap(({ customizations = [] }) => customizations.map((each) => [each.id, each] as const)),
  )
  const troubled = [...all.values()].flatMap((each) => {
    const load = 'load' in each ? each.load : undefined
    if (load?.kind !== 'degraded' && load?.kind !== 'error') return []
    const state = load.kind === 'error' ? 'does not work' : 'works in part'
    const detail = `${onOneLine(each.name)} ${state}: ${onOneLine(load.message ?? 'no reason was given')}`
    return [warn('plugin', detail, 'correct its files; the next turn reads them again')]
  })
  const working = all.size - troubled.length
  return [...(working > 0 ? [ok('plugins', `${working} without a problem`)] : []), ...troubled]
}
