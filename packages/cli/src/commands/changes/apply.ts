import { textOf } from '@atrium/protocol/common/content'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { computedChangeset, invokeOperation } from '../../session/changes.ts'
import { findTarget } from '../../session/find.ts'
import { CommandError } from '../../terminal/exit.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {}

const operationId = 'apply'

/**
 * `atrium apply`: brings the changes of a session's worktree into the checkout that it began from. The host does it, so that
 * only one program works on a checkout.
 */
export function apply(name: string | undefined, flags: Flags): Promise<void> {
  return withClient(flags, async (client) => {
    const out = output(flags)
    const target = await findTarget(client, name ?? 'last')
    const { uri: changeset, state } = await computedChangeset(client, target, 'session')
    const operation = state.operations?.find(({ id }) => id === operationId)
    if (!operation) throw new CommandError('This session has no worktree; it works in its folder.')
    if (operation.confirmation !== undefined) out.note(onOneLine(textOf(operation.confirmation)))
    const message = await invokeOperation(client, { channel: changeset, operationId })
    out.report(
      { operation: operationId, session: target.session.resource, changeset, message },
      () => message,
    )
  })
}
