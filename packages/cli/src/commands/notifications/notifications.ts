import type { Client } from '@atrium/client/client'
import type { HostOptions } from '../../link/connect.ts'
import { askExtension } from '../../link/extension.ts'
import { withClient } from '../../link/with-client.ts'
import { printList } from '../../render/table.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { localTime } from '../../terminal/local-time.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { Output, OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly ntfy?: boolean
}

/** A target of notifications, as the host lists it. */
interface Target {
  readonly id: string
  readonly kind: string
  readonly origin: string
  readonly device?: string
}

/** One attempt to send a notification to a target, as the host has recorded it. */
interface Notice {
  readonly at: string
  readonly event: string
  readonly session?: string
  readonly target: string
  readonly outcome: string
  readonly reason?: string
}

interface Listed {
  readonly targets: readonly Target[]
  readonly notices: readonly Notice[]
}

/** `atrium notifications`: lists what was sent to whom, changes the targets, or sends a test. */
export function notifications(action = 'ls', value: string | undefined, flags: Flags): Promise<void> {
  const run = actions.get(action)
  if (!run)
    throw new CommandError(
      `notifications ${action}: use ls, targets, add URL, remove ID or test instead.`,
      exits.usage,
    )
  return withClient(flags, (client) => run(client, output(flags), value, flags))
}

type Action = (client: Client, out: Output, value: string | undefined, flags: Flags) => Promise<void>

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  [
    'ls',
    async (client, out) => {
      const { notices, targets } = await listed(client)
      showNotices(out, notices, targets)
    },
  ],
  [
    'targets',
    async (client, out) =>
      printList(out, (await listed(client)).targets, {
        document: (target) => target,
        row: ({ id, kind, origin, device = '' }) => [id, kind, onOneLine(origin), onOneLine(device)],
        empty: 'Nobody is notified. Turn notifications on in the web page, or: atrium notifications add URL',
      }),
  ],
  [
    'add',
    async (client, out, value, { ntfy = false }) => {
      const params = { url: needed(value, 'add', 'an address'), kind: ntfy ? 'ntfy' : 'webhook' }
      // The answer is not checked: a host of the same build has this shape.
      const target = (await askExtension(client, 'x-atrium/addWebhook', params)) as Target
      out.report(
        target,
        () => `Added: ${target.kind} at ${onOneLine(target.origin)}, with the id ${target.id}.`,
      )
    },
  ],
  [
    'remove',
    async (client, out, value) => {
      const id = needed(value, 'remove', 'the id of a target')
      await askExtension(client, 'x-atrium/removeNotificationTarget', { id })
      out.report({ id }, () => `Removed: ${onOneLine(id)}.`)
    },
  ],
  [
    'test',
    async (client, out) => {
      const { targets } = await listed(client)
      // The answer is not checked: a host of the same build has this shape.
      const { notices } = (await askExtension(client, 'x-atrium/testNotifications', {})) as Listed
      showNotices(out, notices, targets)
      if (notices.some(({ outcome }) => outcome === 'failed'))
        throw new CommandError('Not every target was reached.', exits.error)
    },
  ],
])

function showNotices(out: Output, notices: readonly Notice[], targets: readonly Target[]): void {
  const nameOf = (id: string) => {
    const target = targets.find((each) => each.id === id)
    return target ? `${target.kind} ${onOneLine(target.device ?? target.origin)}` : 'removed'
  }
  printList(out, notices, {
    document: (notice) => notice,
    row: ({ at, event, session = '', target, outcome, reason = '' }) => [
      localTime(at),
      event,
      outcome,
      nameOf(target),
      onOneLine(session),
      onOneLine(reason),
    ],
    empty: 'Nothing was sent yet. The targets are listed by: atrium notifications targets',
  })
}

async function listed(client: Client): Promise<Listed> {
  // The answer is not checked: a host of the same build has this shape.
  return (await askExtension(client, 'x-atrium/notifications', {})) as Listed
}

function needed(value: string | undefined, action: string, what: string): string {
  if (value === undefined) throw new CommandError(`notifications ${action} needs ${what}.`, exits.usage)
  return value
}
