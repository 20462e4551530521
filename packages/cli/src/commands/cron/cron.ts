import { resolve } from 'node:path'
import { cronOf, phraseExamples } from '@atrium/protocol/automation/phrases'
import { parseSchedule } from '@atrium/protocol/automation/schedule'
import type { AutomationEntry, CronSchedule } from '@atrium/protocol/automation/state'
import { definitionFor, nextInstants } from '@atrium/protocol/automation/task'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import { fileUri } from '@atrium/protocol/file-uri'
import { automationUri, automationsUri } from '@atrium/protocol/uri'
import { newId } from '@atrium/client/shared/globals'
import { assertAccepted } from '../../link/dispatch.ts'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { printList } from '../../render/table.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { localTime } from '../../terminal/local-time.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { Output, OutputOptions } from '../../terminal/output.ts'
import { showAllLogs, showLog } from './cron-log.ts'

export interface CronFlags extends HostOptions, OutputOptions {
  readonly title?: string
  readonly in?: string
  readonly agent?: string
  readonly zone?: string
  readonly skipLate?: boolean
  readonly overlap?: string
}

interface Run {
  readonly client: Client
  readonly list: Subscription<'automation'>
  readonly out: Output
  readonly name: string | undefined
  readonly words: readonly string[]
  readonly flags: CronFlags
}

/** `atrium cron`: lists automations, shows what became of them, creates, starts, pauses and removes them. */
export function cron(
  action = 'ls',
  name: string | undefined,
  words: readonly string[],
  flags: CronFlags,
): Promise<void> {
  const run = actions.get(action)
  if (!run)
    throw new CommandError(`cron ${action}: use ${[...actions.keys()].join(', ')} instead.`, exits.usage)
  const out = output(flags)
  return withClient(flags, async (client) => {
    const list = client.subscribe('automation', automationsUri)
    await list.ready().catch(() => {
      throw new CommandError('This host has no automations: its version is older.')
    })
    await run({ client, list, out, name, words, flags })
  })
}

const actions: ReadonlyMap<string, (run: Run) => Promise<void>> = new Map([
  ['ls', async ({ list, out }: Run) => showList(out, entriesOf(list))],
  ['add', add],
  [
    'log',
    ({ client, list, out, name }: Run) =>
      name === undefined
        ? showAllLogs(client, out, entriesOf(list))
        : showLog(client, out, named(list, name, 'log')),
  ],
  ['run', start],
  ['pause', (run: Run) => enable(run, 'pause', false)],
  ['resume', (run: Run) => enable(run, 'resume', true)],
  ['rm', remove],
])

async function add({ list, out, name, words, flags }: Run): Promise<void> {
  const text = words.join(' ')
  if (name === undefined || text.trim() === '')
    throw new CommandError(
      `cron add needs a time and a message: atrium cron add "weekdays 9:30" "look through new issues"`,
      exits.usage,
    )
  const schedule = scheduleFor(name, flags.zone)
  const resource = automationUri(newId())
  const definition = definitionFor({
    title: flags.title,
    text,
    schedule,
    skipsLate: flags.skipLate,
    overlap: flags.overlap,
    provider: flags.agent,
    folder: fileUri(resolve(flags.in ?? '.')),
  })
  assertAccepted(await list.dispatch({ type: 'automation/createRequested', resource, definition }))
  const next = nextInstants(schedule, Date.now())
  out.report({ resource, schedule, next }, () =>
    [
      `Added: ${onOneLine(definition.title)} (${shortName(resource)}), at ${schedule.expression} in ${schedule.timeZone}. Next:`,
      ...next.map((time) => `  ${localTime(time, { zone: true })}`),
      'It runs only while the host runs. What is missed meanwhile is in: atrium cron log',
    ].join('\n'),
  )
}

async function start({ client, list, out, name }: Run): Promise<void> {
  const { resource, definition } = named(list, name, 'run')
  const { resource: run } = await client.ask('runAutomation', {
    channel: automationsUri,
    automation: resource,
    requestId: newId(),
  })
  out.report(
    { run },
    () => `Started: ${onOneLine(definition.title)}. Its runs: atrium cron log ${shortName(resource)}`,
  )
}

async function enable({ list, out, name }: Run, action: string, enabled: boolean): Promise<void> {
  const { resource, definition } = named(list, name, action)
  assertAccepted(await list.dispatch({ type: 'automation/updateRequested', resource, changes: { enabled } }))
  out.report({ resource, enabled }, () => `${onOneLine(definition.title)} is ${enabled ? 'on' : 'paused'}.`)
}

async function remove({ list, out, name }: Run): Promise<void> {
  const { resource, definition } = named(list, name, 'rm')
  assertAccepted(await list.dispatch({ type: 'automation/removed', resource }))
  out.report(
    { resource },
    () => `Removed: ${onOneLine(definition.title)}. The sessions of its runs are kept.`,
  )
}

function showList(out: Output, entries: readonly AutomationEntry[]): void {
  printList(out, entries, {
    document: (entry) => entry,
    row: ({ resource, definition, nextRunAt, runs }) => [
      shortName(resource),
      onOneLine(definition.title),
      !definition.enabled ? 'paused' : nextRunAt === undefined ? startOf(definition) : localTime(nextRunAt),
      runs[0]?.lifecycle.status ?? '',
    ],
    empty: 'There are no automations. Add one: atrium cron add "weekdays 9:30" "look through new issues"',
  })
}

/** Says what starts an automation without a schedule. */
function startOf({ triggers }: AutomationEntry['definition']): string {
  return triggers.some(({ kind }) => kind === 'event') ? 'after an event' : 'by hand'
}

function scheduleFor(phrase: string, zone = Intl.DateTimeFormat().resolvedOptions().timeZone): CronSchedule {
  const expression = cronOf(phrase)
  if (expression === undefined)
    throw new CommandError(`'${onOneLine(phrase)}' is no time: use ${phraseExamples}.`, exits.usage)
  const schedule = { expression, timeZone: zone }
  const read = parseSchedule(schedule)
  if (!read.ok) throw new CommandError(`${read.problem}.`, exits.usage)
  return schedule
}

function entriesOf(list: Subscription<'automation'>): readonly AutomationEntry[] {
  return list.state?.entries ?? []
}

/** The one automation whose id begins with a name, or whose title contains it. */
function named(list: Subscription<'automation'>, name: string | undefined, action: string): AutomationEntry {
  if (name === undefined)
    throw new CommandError(
      `cron ${action} needs the name of an automation, as atrium cron ls shows it.`,
      exits.usage,
    )
  const entries = entriesOf(list)
  const byId = entries.filter(({ resource }) => resource.slice(idPrefix.length).startsWith(name))
  const wanted = name.toLowerCase()
  const found =
    byId.length > 0
      ? byId
      : entries.filter(({ definition }) => definition.title.toLowerCase().includes(wanted))
  const [one, ...others] = found
  if (!one) throw new CommandError(`There is no automation '${onOneLine(name)}'; see: atrium cron ls`)
  if (others.length > 0)
    throw new CommandError(
      `Several automations fit '${onOneLine(name)}': ${found.map(({ resource }) => shortName(resource)).join(', ')}. Name one of them.`,
      exits.usage,
    )
  return one
}

const idPrefix = automationUri('')

function shortName(uri: string): string {
  return onOneLine(uri.slice(idPrefix.length, idPrefix.length + 8))
}
