import type { Client } from '@atrium/client/client'
import type { SessionState } from '@atrium/protocol/session/state'
import { ArrowLeft, FileDiff, Folder, History, MessageSquare, SquareTerminal, Users } from 'lucide'
import { LinkState } from '../link/link-state.tsx'
import { useMemo } from 'preact/hooks'
import { Button } from '../ui/button.tsx'
import { useCommands } from '../ui/commands.ts'
import { Icon } from '../ui/icon.tsx'
import { visibleText } from './shared/text.ts'

/** The views of a session. */
export type SessionPart = 'chat' | 'changes' | 'terminals' | 'history'

const views = [
  { name: 'chat', label: 'Chat', icon: MessageSquare },
  { name: 'changes', label: 'Changes', icon: FileDiff },
  { name: 'terminals', label: 'Terminals', icon: SquareTerminal },
  { name: 'history', label: 'History', icon: History },
] as const

interface Props {
  readonly client: Client
  readonly session: SessionState
  readonly view: SessionPart
  readonly onView: (view: SessionPart) => void
  readonly onBack: () => void
}

/** The header of a session: its title, its folder, its agent, the other clients, and the buttons for its views. */
export function ChatHeader({ client, session, view, onView, onBack }: Props) {
  useCommands(
    useMemo(
      () =>
        views.map(({ name, label }, at) => ({
          id: `view ${name}`,
          label: `Show ${label.toLowerCase()}`,
          keys: `${at + 1}`,
          run: () => onView(name),
        })),
      [onView],
    ),
  )
  const others = session.activeClients.filter(({ clientId }) => clientId !== client.clientId)
  const names = namesOf(others)
  const folder = pathOf(session.workingDirectories?.[0])
  return (
    <header class="chat-header">
      <Button icon={ArrowLeft} label="All sessions" look="quiet" class="back" onClick={onBack} />
      <div class="chat-title">
        <h1>{visibleText(session.title.trim() === '' ? 'New session' : session.title)}</h1>
        <p>
          <span>{visibleText(session.provider)}</span>
          {folder !== '' && (
            <span class="chat-folder" title={folder}>
              <Icon of={Folder} size={13} /> <span>{folder}</span>
            </span>
          )}
        </p>
      </div>
      {names.length > 0 && (
        <span class="people" title={`Also here: ${names.join(', ')}`}>
          <Icon of={Users} /> <span class="hidden">Also here: </span>
          <span class="people-names">{names.join(', ')}</span>
        </span>
      )}
      <div class="views" role="group" aria-label="What is shown">
        {views.map(({ name, label, icon }) => (
          <Button
            key={name}
            icon={icon}
            label={label}
            look="quiet"
            pressed={view === name}
            onClick={() => onView(name)}
          >
            <span class="wide-only">{label}</span>
          </Button>
        ))}
      </div>
      <span class="header-link">
        <LinkState client={client} brief />
      </span>
    </header>
  )
}

/** The names of clients. Several with one name, such as tabs of a browser, are counted. */
function namesOf(clients: SessionState['activeClients']): readonly string[] {
  const counts = new Map<string, number>()
  for (const { displayName, clientId } of clients) {
    const name = visibleText(displayName ?? `client ${clientId.slice(0, 8)}`)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`))
}

function pathOf(uri = ''): string {
  try {
    return visibleText(decodeURIComponent(uri.replace(/^file:\/\//, '')))
  } catch {
    return visibleText(uri)
  }
}
