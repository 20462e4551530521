import type { Client } from '@atrium/client/client'
import { newId } from '@atrium/client/shared/globals'
import type { ChatState } from '@atrium/protocol/chat/state'
import { Flag, hasFlag } from '@atrium/protocol/status'
import { chatUri } from '@atrium/protocol/uri'
import { memo } from 'preact/compat'
import { useCallback, useMemo, useRef } from 'preact/hooks'
import { useLiveChannel } from '../link/live-channel.ts'
import { RoleNote } from '../link/role-note.tsx'
import { useMay } from '../link/role.ts'
import { failedRequest, failureOf, failureWords } from '../link/outcome-words.ts'
import { useCommands } from '../ui/commands.ts'
import { Empty } from '../ui/empty.tsx'
import { useLatest } from '../ui/use-latest.ts'
import { WorkInBackground } from './background-work.tsx'
import { Composer } from './composer/composer.tsx'
import { cancelTurn } from './composer/messages.ts'
import { ChatProvider } from './shared/context.ts'
import type { ChatContext } from './shared/context.ts'
import { QueueView } from './composer/queue-view.tsx'
import { NeededSignIns } from './needed-sign-ins.tsx'
import { useReadMark } from './read-mark.ts'
import { Servers } from './servers.tsx'
import { Timeline } from './timeline.tsx'
import { TurnView } from './turn-view.tsx'
import { useDraft } from './composer/use-draft.ts'
import { useModels } from './composer/use-models.ts'
import { waitingWords } from './waiting.ts'

interface Props {
  readonly client: Client
  readonly session: string
  readonly chat: string
  /** The agent of the session. */
  readonly provider: string
  /** Whether the agent takes messages into the active turn. */
  readonly steers: boolean
  readonly openChat: (chat: string) => void
  readonly say: (text: string) => void
}

/** Number of turns that a chat has when it is opened. Earlier ones are loaded when a person scrolls to them. */
const firstTurns = 20

/** A chat: its turns, the messages and questions that wait, and the input field for the next message. */
export const ChatView = memo(function ChatView({
  client,
  session,
  chat,
  provider,
  steers,
  openChat,
  say,
}: Props) {
  const { state, pending, status, problem, dispatch: act } = useLiveChannel(client, 'chat', chat, firstTurns)
  const draft = useDraft(client, chat, state, say)
  const { compose, chooseModel } = draft
  const context: ChatContext = useMemo(
    () => ({ client, session, chat, dispatch: act, openChat, compose, say }),
    [client, session, chat, act, openChat, compose, say],
  )
  const older = useOlderTurns(client, state)
  const writes = useMay('prompt')
  const owns = useMay('own')
  const unread = writes && state !== undefined && !state.activeTurn && !hasFlag(state.status, Flag.IsRead)
  useReadMark(unread, () => void act({ type: 'chat/isReadChanged', isRead: true }))
  const fork = useCallback(
    (turnId: string) => {
      const made = chatUri(newId())
      const source = { kind: 'fork' as const, chat, turnId }
      client.ask('createChat', { channel: session, chat: made, source }).then(
        () => openChat(made),
        (error: unknown) =>
          say(failureWords(failedRequest(error), 'The chat was not forked', 'the chat was forked')),
      )
    },
    [client, session, chat, openChat, say],
  )
  const turns = state?.turns
  const edit = useCallback(
    (turnId: string, text: string) => {
      const at = turns?.findIndex(({ id }) => id === turnId) ?? -1
      const previous = turns?.[at - 1]?.id
      void act({ type: 'chat/truncated', ...(previous !== undefined && { turnId: previous }) }).then(
        (outcome) => {
          const failure = failureOf(outcome)
          if (failure === undefined) compose(text)
          else say(failure)
        },
      )
    },
    [turns, act, compose, say],
  )
  const stop = useLatest(() => state && cancelTurn(client, state))
  const models = useModels(client, provider)
  const last = turns?.at(-1)?.id
  const runs = state?.activeTurn !== undefined
  useCommands(
    useMemo(() => {
      if (!writes) return []
      return [
        ...(runs ? [{ id: 'stop', label: 'Stop the turn', run: () => stop() }] : []),
        ...(last === undefined ? [] : [{ id: 'fork', label: 'Fork this chat', run: () => fork(last) }]),
        ...models.map(({ id, name }) => ({
          id: `model ${id}`,
          label: `Model ${name}, from the next message on`,
          run: () => chooseModel({ id }),
        })),
      ]
    }, [writes, runs, stop, last, fork, models, chooseModel]),
  )
  if (!state && status === 'gone')
    return (
      <Empty title="This chat cannot be opened">
        <p>{problem?.message}</p>
      </Empty>
    )
  if (!state) return <Empty title="Opening the chat…" />
  const { activeTurn } = state
  const oldest = state.turns[0]?.id ?? activeTurn?.id ?? ''
  return (
    <ChatProvider value={context}>
      <Timeline first={oldest} onOlder={older}>
        {state.turns.length === 0 && !activeTurn && <FirstMessage />}
        {/* The active turn is in the same list, so that its elements stay when it has ended. */}
        {[...state.turns, ...(activeTurn ? [activeTurn] : [])].map((turn, at) =>
          turn === activeTurn ? (
            <TurnView
              key={turn.id}
              turn={turn}
              waiting={waitingWords(pending, turn.id, client.link.state)}
              activity={state.activity}
            />
          ) : (
            <TurnView
              key={turn.id}
              turn={turn}
              last={at === state.turns.length - 1 && !activeTurn}
              {...(writes && { onFork: fork })}
              // To edit a message, the chat is truncated after the turn before it. For the oldest loaded turn, that
              // turn may not be loaded yet.
              {...(owns && (at > 0 || state.turnsNextCursor === undefined) && { onEdit: edit })}
            />
          ),
        )}
      </Timeline>
      <div class="dock">
        <NeededSignIns client={client} session={session} chat={state} />
        <Servers client={client} canvases={state.canvases} />
        <WorkInBackground client={client} work={state.backgroundWork} say={say} />
        <QueueView state={state} steers={steers} />
        {state.interactivity === 'read-only' ? (
          <p class="read-only">This chat can only be read.</p>
        ) : !writes ? (
          <RoleNote needed="prompt" to="write messages" />
        ) : (
          <Composer
            active={activeTurn !== undefined}
            steers={steers}
            draft={draft.draft}
            model={models.find(({ id }) => id === draft.draft.model?.id)?.name}
            problem={draft.problem}
            onDraft={draft.change}
            onSend={draft.send}
            onStop={stop}
          />
        )}
      </div>
    </ChatProvider>
  )
})

function FirstMessage() {
  return (
    <Empty title="Nothing was said here yet">
      <p>Write what shall be done. Everybody who opens this session sees the same, live.</p>
    </Empty>
  )
}

/** A function that loads the page of turns before the oldest one. Undefined if there are no older turns. */
function useOlderTurns(client: Client, state: ChatState | undefined): (() => void) | undefined {
  const asked = useRef<string>(undefined)
  const cursor = state?.turnsNextCursor
  const channel = state?.resource
  if (cursor === undefined || channel === undefined) return undefined
  return () => {
    if (asked.current === cursor) return
    asked.current = cursor
    client.ask('fetchTurns', { channel, cursor }).catch(() => void (asked.current = undefined))
  }
}
