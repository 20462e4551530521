import type { Uri } from '../channel.ts'
import type { Message } from '../chat/message.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { compact } from '../update.ts'
import { dueInstants, parseSchedule } from './schedule.ts'
import type { AutomationDefinition, AutomationTrigger, CronSchedule } from './state.ts'

/** What a due instant does while another run of its automation is active. */
export const overlaps = ['skip', 'queue', 'parallel'] as const

/** An automation as a person says it: a task, when, by whom and where. */
export interface AutomationTask {
  /** Absent or blank: the first line of the text. */
  readonly title?: string | undefined
  readonly text: string
  /** Absent: somebody starts the runs. */
  readonly schedule?: CronSchedule | undefined
  /** Whether an instant is missed that falls due while the host is away. */
  readonly skipsLate?: boolean | undefined
  readonly overlap?: string | undefined
  readonly provider?: string | undefined
  /** Absent: those of the definition that is edited. */
  readonly folder?: Uri | undefined
}

/**
 * The definition of an automation for a task.
 *
 * @param before The definition that is edited. What a task does not say stays as it was; the model and the settings belong to an
 *   agent, and go with it. Triggers that a task cannot say stay, too.
 */
export function definitionFor(task: AutomationTask, before?: AutomationDefinition): AutomationDefinition {
  const { text, title = '', provider, folder } = task
  const named = title.trim() === '' ? titleOf(text) : title.trim()
  const same = before !== undefined && before.session.provider === provider
  const message: Message = { origin: { kind: 'automation' }, ...before?.message, text }
  return compact<AutomationDefinition>({
    ...before,
    title: named,
    message: same ? message : compact<Message>({ ...message, model: undefined, agent: undefined }),
    session: compact<AutomationDefinition['session']>({
      ...(same && before.session),
      provider,
      workingDirectories: folder === undefined ? before?.session.workingDirectories : [folder],
    }),
    enabled: before?.enabled ?? true,
    triggers: before && !isSimple(before) ? before.triggers : triggersFor(task),
    _meta: withOverlap(before?._meta, task.overlap),
  })
}

/** The first line of a text, cut between words. */
function titleOf(text: string): string {
  const [line = ''] = text.trim().split('\n', 1)
  if (line.length <= longestTitle) return line
  return `${line.slice(0, longestTitle).replace(/\s+\S*$/, '')}…`
}

const longestTitle = 80

/** Whether a task can say the triggers: none, or one schedule. */
export function isSimple({ triggers: [first, ...others] }: Pick<AutomationDefinition, 'triggers'>): boolean {
  return others.length === 0 && first?.kind !== 'event'
}

function triggersFor({ schedule, skipsLate = false }: AutomationTask): readonly AutomationTrigger[] {
  if (!schedule) return []
  return [{ kind: 'schedule', id: 'schedule', schedule, misfirePolicy: skipsLate ? 'skip' : 'runOnce' }]
}

function withOverlap(meta: JsonObject | undefined, overlap: string | undefined): JsonObject | undefined {
  if (overlap === undefined) return meta
  const own = meta?.['x-atrium']
  return { ...meta, 'x-atrium': { ...(isJsonObject(own) && own), overlap } }
}

/** The next due instants of a schedule, ISO 8601. None if it cannot be read. */
export function nextInstants(schedule: CronSchedule, after: number, most = 3): readonly string[] {
  const read = parseSchedule(schedule)
  const found: string[] = []
  if (read.ok)
    for (const instant of dueInstants(read.value, after)) {
      found.push(new Date(instant).toISOString())
      if (found.length === most) break
    }
  return found
}
