import type { AutomationEntry } from '@atrium/protocol/automation/state'
import { missedWords, missesOf, originWords, timelineOf } from '@atrium/protocol/automation/timeline'
import type { Happening, MissedRuns } from '@atrium/protocol/automation/timeline'
import type { Client } from '@atrium/client/client'
import { askExtension } from '../../link/extension.ts'
import { printList } from '../../render/table.ts'
import { localTime } from '../../terminal/local-time.ts'
import { onOneLine } from '../../terminal/output.ts'
import type { Output } from '../../terminal/output.ts'

/** The number of lines in the log of all automations. */
const mostLines = 50

/** Shows the runs of an automation and the instants that it has missed, the newest last. */
export async function showLog(client: Client, out: Output, entry: AutomationEntry): Promise<void> {
  printList(out, await happenings(client, entry), { document, row, empty: 'Nothing was due yet.' })
}

/** Shows what has become of all automations lately, the newest last. */
export async function showAllLogs(
  client: Client,
  out: Output,
  entries: readonly AutomationEntry[],
): Promise<void> {
  // Each line is of an automation that is one of the newest by its last run or miss.
  const newest = entries.toSorted((a, b) => (lastOf(a) < lastOf(b) ? 1 : -1)).slice(0, mostLines)
  const all = await Promise.all(
    newest.map(async (entry) =>
      (await happenings(client, entry)).map((each) => ({ each, title: entry.definition.title })),
    ),
  )
  const lines = all.flat().toSorted((a, b) => (a.each.at < b.each.at ? -1 : 1))
  printList(out, lines.slice(-mostLines), {
    document: ({ each, title }) => ({ title, ...document(each) }),
    row: ({ each, title }) => [...row(each).slice(0, 2), onOneLine(title), ...row(each).slice(2)],
    empty: 'Nothing was due yet.',
  })
}

async function happenings(
  client: Client,
  { resource, runs }: AutomationEntry,
): Promise<readonly Happening[]> {
  // The answer is not checked: a host of the same build has this shape.
  const { items } = (await askExtension(client, 'x-atrium/missedRuns', { automation: resource })) as {
    readonly items: readonly MissedRuns[]
  }
  return timelineOf(runs, items)
}

/** When an automation has run or missed a run last. */
function lastOf(entry: AutomationEntry): string {
  const runs = entry.runs.map(({ lifecycle }) => lifecycle.createdAt)
  return [...runs, missesOf(entry)?.newest.to ?? ''].toSorted().at(-1) ?? ''
}

function document(happening: Happening): object {
  return 'run' in happening ? happening.run : happening.missed
}

function row(happening: Happening): readonly string[] {
  const at = localTime(happening.at)
  if ('missed' in happening) {
    const { because, to, count } = happening.missed
    const until = count > 1 ? `, ${count} times until ${localTime(to)}` : ''
    return [at, 'missed', `${onOneLine(missedWords(because))}${until}`]
  }
  const { lifecycle } = happening.run
  const error = lifecycle.status === 'failed' ? `: ${onOneLine(lifecycle.error.message)}` : ''
  return [at, lifecycle.status, `${originWords(happening.run)}${error}`]
}
