import { ActiveClient } from '@atrium/client/active-client'
import type { Client } from '@atrium/client/client'
import type { ComponentChildren } from 'preact'
import type { ChatState } from '@atrium/protocol/chat/state'
import { primaryChat } from '@atrium/protocol/session/primary-chat'
import { defaultChatUri } from '@atrium/protocol/uri'
import { Flag, hasFlag } from '@atrium/protocol/status'
import { memo } from 'preact/compat'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { browserName } from '../link/host-client.ts'
import { useLiveChannel } from '../link/live-channel.ts'
import { useSteering } from './shared/steering.ts'
import { failureOf } from '../link/outcome-words.ts'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { useCommands } from '../ui/commands.ts'
import { Empty } from '../ui/empty.tsx'
import { useShown } from '../ui/shown.ts'
import { Splitter } from '../ui/splitter.tsx'
import { useMedia } from '../ui/use-media.ts'
import { ChangesView } from './changes/changes-view.tsx'
import type { Wanted } from './changes/context.ts'
import type { ReviewMessage } from './changes/review-message.ts'
import { ChatHeader } from './chat-header.tsx'
import type { SessionPart } from './chat-header.tsx'
import { ChatTabs } from './chat-tabs.tsx'
import { ChatView } from './chat-view.tsx'
import { send } from './composer/messages.ts'
import { TerminalsView } from './terminals/terminals-view.tsx'
import { QuestionsElsewhere } from './elsewhere.tsx'
import { useReadMark } from './read-mark.ts'
import { FilePlaces } from './shared/file-places.tsx'

interface Props {
  readonly client: Client
  readonly session: string
  readonly chat: string | undefined
  readonly onBack: () => void
  readonly onOpenChat: (chat: string) => void
  readonly say: (text: string) => void
  /** Draws the past of a chat. */
  readonly past: (chat: string) => ComponentChildren
}

/** The view that is shown, and the operation that was asked for with it. `asked` counts how often that was. */
interface Part {
  readonly view: SessionPart
  readonly wanted?: Wanted
  readonly asked: number
}

/** The width from which the chat and the changes have room beside each other. */
const roomForBoth = '(min-width: 88rem)'

/** A session with one of its chats. */
export const SessionView = memo(function SessionView({
  client,
  session: uri,
  chat,
  onBack,
  onOpenChat,
  say,
  past,
}: Props) {
  const { state: session, status, problem, dispatch } = useLiveChannel(client, 'session', uri)
  const steers = useSteering(client, session?.provider)
  const [{ view, wanted, asked }, setPart] = useState<Part>({ view: 'chat', asked: 0 })
  const setView = useCallback((next: SessionPart) => setPart((now) => ({ view: next, asked: now.asked })), [])
  const beside = useMedia(roomForBoth) && view === 'changes'
  const sendMessage = useCallback(
    async (chatState: ChatState, message: ReviewMessage) => {
      const outcome = await send(client, chatState, message, chatState.activeTurn ? 'queue' : 'turn')
      const failure = failureOf(outcome)
      if (failure !== undefined) say(failure)
      return failure === undefined
    },
    [client, say],
  )
  const owns = useMay('own')
  const kinds = session?.changesets?.map(({ changeKind }) => changeKind).join(' ') ?? ''
  useCommands(
    useMemo(() => {
      const ask = (operation: Wanted) => () =>
        setPart((now) => ({ view: 'changes', wanted: operation, asked: now.asked + 1 }))
      return [
        ...(owns && kinds !== '' ? [{ id: 'undo', label: 'Undo the last turn', run: ask('undo') }] : []),
        ...(owns && kinds.includes('uncommitted')
          ? [{ id: 'commit', label: 'Commit changes', run: ask('commit') }]
          : []),
      ]
    }, [owns, kinds]),
  )
  const writes = useMay('prompt')
  const shown = useShown()
  const isHere = session !== undefined && writes && shown
  useEffect(() => {
    if (!isHere) return
    const entry = { clientId: client.clientId, displayName: browserName(), tools: [] }
    const session = client.subscribe('session', uri)
    const active = new ActiveClient(session, () => entry)
    void active.join()
    const leave = () => void active.leave()
    addEventListener('pagehide', leave)
    return () => {
      removeEventListener('pagehide', leave)
      leave()
      session.release()
    }
  }, [isHere, client, uri])
  useReadMark(
    session !== undefined && writes && !hasFlag(session.status, Flag.IsRead),
    () => void dispatch({ type: 'session/isReadChanged', isRead: true }),
  )
  if (status === 'gone')
    return (
      <main class="main">
        <Empty title="This session cannot be opened">
          <p>{problem?.message}</p>
          <Button onClick={onBack}>All sessions</Button>
        </Empty>
      </main>
    )
  if (!session)
    return (
      <main class="main">
        <Empty title="Opening the session…" />
      </main>
    )
  const selected = chat ?? primaryChat(session) ?? defaultChatUri(uri)
  return (
    <FilePlaces client={client} folder={session.workingDirectories?.[0]}>
      <main class="main">
        <ChatHeader client={client} session={session} view={view} onView={setView} onBack={onBack} />
        <ChatTabs chats={session.chats} selected={selected} onOpen={onOpenChat} />
        {session.lifecycle === 'failed' && (
          <p class="problem" role="alert">
            The session could not be created: {session.creationError?.message ?? 'the host does not say why'}
          </p>
        )}
        <QuestionsElsewhere session={session} chat={selected} onOpen={onOpenChat} />
        <div class={`panes${beside ? ' beside' : ''}`}>
          {(view === 'chat' || beside) && (
            <div class="pane">
              <ChatView
                key={selected}
                client={client}
                session={uri}
                chat={selected}
                provider={session.provider}
                steers={steers}
                openChat={onOpenChat}
                say={say}
              />
            </div>
          )}
          {beside && <Splitter label="Chat and changes" name="changes" />}
          {/* Only the chat stays while a person is in another session. The other views are made again. */}
          {view === 'changes' && shown && (
            <ChangesView
              key={asked}
              client={client}
              uri={uri}
              session={session}
              chat={selected}
              wanted={wanted}
              beside={beside}
              onMessage={sendMessage}
              say={say}
            />
          )}
          {view === 'terminals' && shown && (
            <TerminalsView client={client} uri={uri} session={session} chat={selected} say={say} />
          )}
          {view === 'history' && shown && past(selected)}
        </div>
      </main>
    </FilePlaces>
  )
})
