import { cronOf, phraseExamples, phraseOf } from '@atrium/protocol/automation/phrases'
import { parseSchedule } from '@atrium/protocol/automation/schedule'
import type { AutomationDefinition, AutomationTrigger, CronSchedule } from '@atrium/protocol/automation/state'
import { isSimple } from '@atrium/protocol/automation/task'
import type { AutomationTask } from '@atrium/protocol/automation/task'
import { fileUri } from '@atrium/protocol/file-uri'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { member, textMember } from '../link/member.ts'
import { pathIn } from '../sessions/grouping.ts'
import { readinessOf } from '../sessions/readiness.ts'
import { ownZone } from './automation-words.ts'

/** The fields of the form of an automation, as a person has left them. */
export interface AutomationDraft {
  readonly title: string
  readonly text: string
  /** A plain phrase or five cron fields. Empty: only by hand. */
  readonly when: string
  readonly zone: string
  /** Triggers that the form cannot change. */
  readonly triggers: readonly AutomationTrigger[] | undefined
  readonly provider: string
  readonly path: string
  /** The folder that the automation has. As long as it is in the field, all folders stay. */
  readonly former: string | undefined
  readonly skipsLate: boolean
  readonly overlap: string
}

interface Defaults {
  readonly path: string
  readonly agents: readonly AgentInfo[]
}

export function draftOf(
  before: AutomationDefinition | undefined,
  { path, agents }: Defaults,
): AutomationDraft {
  const ready = agents.find((agent) => readinessOf(agent).state === 'ready') ?? agents[0]
  const [trigger] = before?.triggers ?? []
  const schedule = trigger?.kind === 'schedule' ? trigger : undefined
  const [folder] = before?.session.workingDirectories ?? []
  return {
    title: before?.title ?? '',
    text: before?.message.text ?? '',
    when: schedule ? phraseOf(schedule.schedule.expression) : '',
    zone: schedule?.schedule.timeZone ?? ownZone,
    triggers: before && !isSimple(before) ? before.triggers : undefined,
    provider: before?.session.provider ?? ready?.provider ?? '',
    path: folder === undefined ? path : pathIn(folder),
    // Without a folder, that in the field is only where the choice begins.
    former: before && (folder === undefined ? path : pathIn(folder)),
    skipsLate: schedule?.misfirePolicy === 'skip',
    overlap: overlapOf(before),
  }
}

interface Read {
  readonly schedule?: CronSchedule | undefined
  /** Undefined as long as something is missing or wrong. */
  readonly task?: AutomationTask | undefined
  readonly problem?: string
}

/** What a definition says of due instants while a run is active. */
export function overlapOf(definition: Pick<AutomationDefinition, '_meta'> | undefined): string {
  return textMember(member(definition?._meta, 'x-atrium'), 'overlap') ?? 'skip'
}

/** What a draft says, or what is wrong with its time. */
export function readDraft(draft: AutomationDraft): Read {
  const { title, text, when, zone, provider, path, former, skipsLate, overlap } = draft
  const expression = when.trim() === '' || draft.triggers ? undefined : cronOf(when)
  if (when.trim() !== '' && !draft.triggers && expression === undefined)
    return { problem: `“${when}” is no time: use ${phraseExamples}.` }
  const schedule = expression === undefined ? undefined : { expression, timeZone: zone.trim() }
  const read = schedule && parseSchedule(schedule)
  if (read?.ok === false) return { problem: `${read.problem}.` }
  const task = {
    title,
    text,
    schedule,
    skipsLate,
    overlap,
    provider,
    folder: path === '' || path === former ? undefined : fileUri(path),
  }
  return { schedule, task: text.trim() === '' ? undefined : task }
}
