import type { AutomationEntry, AutomationRunSummary } from '@atrium/protocol/automation/state'
import type { Client } from '@atrium/client/client'
import { askExtension } from '../../link/extension.ts'
import { printList } from '../../render/table.ts'
import { localTime } from '../../terminal/local-time.ts'
import { onOneLine } from '../../terminal/output.ts'
import type { Output } from '../../terminal/output.ts'

/** Instants without a run, as the host notes them. */
interface Missed {
  readonly because: string
  readonly from: string
  readonly to: string
  readonly count: number
}

interface Line {
  readonly at: string
  readonly what: string
  readonly detail: string
  readonly document: object
}

/** Shows the runs of an automation and the instants that it has missed, the newest last. */
export async function showLog(
  client: Client,
  out: Output,
  { resource, runs }: AutomationEntry,
): Promise<void> {
  // The answer is not checked: a host of the same build has this shape.
  const { items } = (await askExtension(client, 'x-atrium/missedRuns', { automation: resource })) as {
    readonly items: readonly Missed[]
  }
  const lines = [...runs.map(lineOfRun), ...items.map(lineOfMissed)].toSorted((a, b) =>
    a.at < b.at ? -1 : 1,
  )
  printList(out, lines, {
    document: ({ document }) => document,
    row: ({ at, what, detail }) => [localTime(at), what, detail],
    empty: 'Nothing was due yet.',
  })
}

function lineOfRun(run: AutomationRunSummary): Line {
  const { lifecycle, origin } = run
  const scheduled = origin.kind === 'trigger' ? origin.scheduledFor : undefined
  const late = origin.kind === 'trigger' && origin.catchUp === true ? ' (late)' : ''
  const error = lifecycle.status === 'failed' ? `: ${onOneLine(lifecycle.error.message)}` : ''
  return {
    at: scheduled ?? lifecycle.createdAt,
    what: `${lifecycle.status}${late}`,
    detail: `${origin.kind === 'manual' ? 'by hand' : scheduled === undefined ? 'by an event' : 'by schedule'}${error}`,
    document: run,
  }
}

function lineOfMissed(missed: Missed): Line {
  const { because, from, to, count } = missed
  const until = count > 1 ? `, ${count} times until ${localTime(to)}` : ''
  return { at: from, what: 'missed', detail: `${onOneLine(because)}${until}`, document: missed }
}
