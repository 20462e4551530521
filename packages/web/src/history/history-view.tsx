import type { Client } from '@atrium/client/client'
import type { PastRange } from '@atrium/client/past'
import { useMemo, useState } from 'preact/hooks'
import '../styles/history.css'
import { ChatProvider } from '../chat/shared/context.ts'
import type { ChatContext } from '../chat/shared/context.ts'
import { Timeline } from '../chat/timeline.tsx'
import { TurnView } from '../chat/turn-view.tsx'
import { Empty } from '../ui/empty.tsx'
import { actionWords, authorOf, timeOf } from './action-words.ts'
import { Controls } from './controls.tsx'
import { Decisions, momentWords } from './decisions.tsx'
import type { Moment } from './past-reader.ts'
import { usePast } from './use-past.ts'

export interface Props {
  readonly client: Client
  readonly session: string
  readonly chat: string
  readonly openChat: (chat: string) => void
}

/** A chat as it was after any of its actions. It can only be read: nothing here reaches the chat. */
export function HistoryView({ client, session, chat, openChat }: Props) {
  const [step, setStep] = useState(1)
  const past = usePast(client, chat, step)
  const { moment, position, total, problem, progress, playing } = past
  const context: ChatContext = useMemo(
    () => ({ client, session, chat, openChat, dispatch: refuse, compose: () => {}, say: () => {} }),
    [client, session, chat, openChat],
  )
  const words =
    moment && moment.position === position ? wordsAt(moment, client.clientId) : 'Reading the past…'
  return (
    <section class="past" aria-label="History">
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {!moment && problem === undefined && (
        <Empty
          title={progress === undefined ? 'Reading the past…' : `Reading the past: ${percent(progress)}`}
        />
      )}
      {moment && (
        <ChatProvider value={context}>
          <Missing range={moment.range} />
          <PastTurns moment={moment} onOlder={past.loadOlder} />
          <div class="past-dock">
            <p class="past-words">
              {words}
              {moment.gap && <span class="past-gap"> What was removed is not shown.</span>}
            </p>
            <Controls
              position={position}
              total={total}
              playing={playing}
              step={step}
              words={words}
              onGo={past.go}
              onPlay={past.play}
              onStep={setStep}
            />
            <Decisions state={moment.state} />
          </div>
        </ChatProvider>
      )}
    </section>
  )
}

/** The turns of the chat at a moment. Their controls are disabled, because nobody can decide anything in the past. */
function PastTurns({ moment, onOlder }: { readonly moment: Moment; readonly onOlder: () => void }) {
  const { turns, activeTurn, queuedMessages = [] } = moment.state
  const empty = turns.length === 0 && !activeTurn
  return (
    <Timeline first={turns[0]?.id ?? ''} {...(moment.older !== undefined && { onOlder })}>
      {empty && <Empty title="Nothing had been said here yet" />}
      <fieldset class="past-turns" disabled aria-label="The chat at this time">
        {turns.map((turn) => (
          <TurnView key={turn.id} turn={turn} />
        ))}
        {activeTurn && <TurnView key={activeTurn.id} turn={activeTurn} activity={moment.state.activity} />}
      </fieldset>
      {queuedMessages.length > 0 && (
        <p class="past-queue">
          {queuedMessages.length === 1 ? 'One message waited' : `${queuedMessages.length} messages waited`} in
          the queue.
        </p>
      )}
    </Timeline>
  )
}

/** Says that the past can only be read, and which part of it the host no longer shows. */
function Missing({ range }: { readonly range: PastRange }) {
  const { forgottenTo, truncatedTo } = range
  return (
    <p class="past-note" role="note">
      This is the past: it can only be read.
      {forgottenTo !== undefined && ' Earlier actions were forgotten, as the retention of this host asks.'}
      {truncatedTo !== undefined && ' What came before was removed from the chat, and is not shown.'}
    </p>
  )
}

function wordsAt({ envelope, state, position }: Moment, ownId: string): string {
  if (!envelope) return 'The beginning of what can be shown'
  const when = timeOf(envelope) ?? state.activeTurn?.startedAt ?? state.modifiedAt
  return `${position}. ${actionWords(envelope)}, ${authorOf(envelope, ownId)} · ${momentWords(when)}`
}

const percent = (share: number) => `${Math.round(share * 100)}%`

const refuse: ChatContext['dispatch'] = () =>
  Promise.resolve({ outcome: 'refused', reason: 'this is the past, which can only be read' })
