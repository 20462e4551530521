import type { Client } from '@atrium/client/client'
import type { ChangesetOperation } from '@atrium/protocol/changeset/state'
import { useState } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { plainText, visibleText } from '../shared/text.ts'

interface Props {
  readonly client: Client
  readonly channel: string
  readonly operation: ChangesetOperation
  /** The file that the operation is about. Undefined: all files. */
  readonly resource?: string
  readonly say: (text: string) => void
}

/** Something that can be done with changes, such as undo. The host says what happened, or why it did not. */
export function OperationButton({ client, channel, operation, resource, say }: Props) {
  const [asking, setAsking] = useState(false)
  const { id, label, description, confirmation, status } = operation
  const run = () => {
    const target = resource === undefined ? {} : { target: { kind: 'resource', resource } as const }
    client.ask('invokeChangesetOperation', { channel, operationId: id, ...target }).then(
      ({ message = 'Done.' }) => say(visibleText(plainText(message))),
      (error: unknown) => say(error instanceof Error ? error.message : String(error)),
    )
  }
  return (
    <>
      <Button
        disabled={status === 'disabled' || status === 'running'}
        {...(description !== undefined && { title: visibleText(description) })}
        onClick={() => (confirmation === undefined ? run() : setAsking(true))}
      >
        {visibleText(label)}
        {resource !== undefined && ' (this file)'}
        {status === 'running' && '…'}
      </Button>
      {asking && (
        <Confirm
          title={visibleText(label)}
          text={visibleText(plainText(confirmation))}
          action={visibleText(label)}
          onConfirm={run}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
