import type { PendingMessage } from '@atrium/protocol/chat/message'
import { holdsMessages } from '@atrium/protocol/chat/queue'
import type { ChatState } from '@atrium/protocol/chat/state'
import { ArrowUp, CornerDownRight, Pencil, Play, X } from 'lucide'
import { useMay } from '../../link/role.ts'
import { failureOf } from '../../link/outcome-words.ts'
import { Button } from '../../ui/button.tsx'
import { useChat, useDecide } from '../shared/context.ts'
import { startNext } from './messages.ts'

type Kind = 'steering' | 'queued'

/** The messages that wait: the one for the active turn first, then the queue. */
export function QueueView({ state, steers }: { readonly state: ChatState; readonly steers: boolean }) {
  const { client, say } = useChat()
  const { steeringMessage, queuedMessages = [] } = state
  const writes = useMay('prompt')
  if (!steeringMessage && queuedMessages.length === 0) return null
  const held = holdsMessages(state)
  const next = () =>
    void startNext(client, state)?.then((outcome) => {
      const failure = failureOf(outcome)
      if (failure !== undefined) say(failure)
    })
  return (
    <section class="queue" aria-label="Waiting messages">
      {held && (
        <p class="queue-held">
          The last turn did not complete, so these wait for you.
          {writes && (
            <Button icon={Play} onClick={next}>
              Send the next one
            </Button>
          )}
        </p>
      )}
      <ol>
        {steeringMessage && (
          <Entry kind="steering" pending={steeringMessage} state={state} at={0} steers={steers} />
        )}
        {queuedMessages.map((pending, at) => (
          <Entry key={pending.id} kind="queued" pending={pending} state={state} at={at} steers={steers} />
        ))}
      </ol>
    </section>
  )
}

interface EntryProps {
  readonly kind: Kind
  readonly pending: PendingMessage
  readonly state: ChatState
  /** The index in the queue. */
  readonly at: number
  /** Whether the agent takes messages into the active turn. */
  readonly steers: boolean
}

function Entry({ kind, pending: { id, message }, state, at, steers }: EntryProps) {
  const { compose } = useChat()
  const writes = useMay('prompt')
  const decide = useDecide()
  const remove = () => decide({ type: 'chat/pendingMessageRemoved', kind, id })
  const first = () => {
    const others = (state.queuedMessages ?? []).map((each) => each.id).filter((each) => each !== id)
    decide({ type: 'chat/queuedMessagesReordered', order: [id, ...others] })
  }
  const steer = () => {
    remove()
    decide({ type: 'chat/pendingMessageSet', kind: 'steering', id, message })
  }
  return (
    <li class={`queued ${kind}`}>
      <span class="tag">{kind === 'queued' ? 'queued' : steers ? 'for this turn' : 'after this turn'}</span>
      <span class="queued-text">{message.text}</span>
      {writes && kind === 'queued' && at > 0 && (
        <Button icon={ArrowUp} label="Move to the front" look="quiet" onClick={first} />
      )}
      {writes && steers && kind === 'queued' && state.activeTurn && !state.steeringMessage && (
        <Button icon={CornerDownRight} label="Send into the active turn" look="quiet" onClick={steer} />
      )}
      {writes && (
        <Button
          icon={Pencil}
          label="Edit"
          look="quiet"
          onClick={() => {
            remove()
            compose(message.text)
          }}
        />
      )}
      {writes && <Button icon={X} label="Remove" look="quiet" onClick={remove} />}
    </li>
  )
}
