import type { ChangesetOperationTarget } from '@atrium/protocol/changeset/commands'
import type { ChangesetOperation } from '@atrium/protocol/changeset/state'
import { useState } from 'preact/hooks'
import { useMay } from '../../link/role.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { plainText, visibleText } from '../shared/text.ts'
import { useChanges } from './context.ts'

export type OperationTarget = ChangesetOperationTarget

interface Props {
  readonly channel: string
  readonly operation: ChangesetOperation
  /** The file or the lines that the operation is about. Undefined: all files. */
  readonly target?: OperationTarget
  /** Whether a person has asked for the operation before its button was there. */
  readonly asked?: boolean
  /** The target in words, for people who do not see where the button is. */
  readonly about?: string
}

/** A button for an operation on changes, such as undo. Shows what the host says: what was done, or why nothing was. */
export function OperationButton({ channel, operation, target, asked = false, about }: Props) {
  const { client, say } = useChanges()
  const owns = useMay('own')
  const { id, label, description, confirmation, status } = operation
  const [asking, setAsking] = useState(asked && status !== 'disabled' && confirmation !== undefined)
  const name = visibleText(label)
  if (!owns) return null
  const run = () => {
    client.ask('invokeChangesetOperation', { channel, operationId: id, ...(target && { target }) }).then(
      ({ message = 'Done.' }) => say(visibleText(plainText(message))),
      (error: unknown) => say(error instanceof Error ? error.message : String(error)),
    )
  }
  return (
    <>
      <Button
        disabled={status === 'disabled' || status === 'running'}
        {...(description !== undefined && { title: visibleText(description) })}
        {...(about !== undefined && { label: `${name}: ${about}` })}
        onClick={() => (confirmation === undefined ? run() : setAsking(true))}
      >
        {name}
        {target?.kind === 'resource' && operation.group !== 'conflict' && ' (this file)'}
        {status === 'running' && '…'}
      </Button>
      {asking && confirmation !== undefined && (
        <Confirm
          title={name}
          text={visibleText(plainText(confirmation))}
          action={name}
          onConfirm={run}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
