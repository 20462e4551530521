import type { Client } from '@atrium/client/client'
import type { Annotation } from '@atrium/protocol/annotations/state'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { SendHorizontal } from 'lucide'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLiveChannel } from '../../link/live-channel.ts'
import { useMay } from '../../link/role.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { ownMember, textMember } from '../shared/member.ts'
import { visibleText } from '../shared/text.ts'
import { ChangesetView } from './changeset-view.tsx'
import { useComments } from './comments.ts'
import { ChangesProvider } from './context.ts'
import type { ChangesContext, Wanted } from './context.ts'
import { useDiffLayout } from './layout.ts'
import type { DiffLayout } from './layout.ts'
import { reviewMessage, unansweredComments } from './review-message.ts'
import type { ReviewMessage } from './review-message.ts'
import { lastTurn, scopesOf, uncommitted } from './scopes.ts'
import type { ChangesScope } from './scopes.ts'
import { useFileCounts } from './use-file-counts.ts'

interface Props {
  readonly client: Client
  readonly uri: string
  readonly session: SessionState
  readonly chat: string
  readonly wanted: Wanted | undefined
  /** Whether the chat is beside the changes, so that there is little room for them. */
  readonly beside: boolean
  /** Sends a message to the agent. Resolves to whether the host has accepted it. */
  readonly onMessage: (chat: ChatState, message: ReviewMessage) => Promise<boolean>
  readonly say: (text: string) => void
}

const layouts: readonly { readonly name: DiffLayout; readonly label: string }[] = [
  { name: 'unified', label: 'One column' },
  { name: 'split', label: 'Side by side' },
]
/** The changeset that has an operation. */
const labelFor: { readonly [W in Wanted]: string } = { undo: lastTurn, commit: uncommitted }
const noFolders: readonly string[] = []

/** The view of the changes that the turns of a session have made to its files. */
export function ChangesView({ client, uri, session, chat, wanted: asked, ...props }: Props) {
  const { beside, onMessage, say } = props
  const { state } = useLiveChannel(client, 'chat', chat, 1)
  const comments = useComments(client, uri, say)
  const { layout: wide, hasRoom: hasWidth, choose } = useDiffLayout()
  const hasRoom = hasWidth && !beside
  const layout = hasRoom ? wide : 'unified'
  const scopes = scopesOf(session, state)
  const counts = useFileCounts(
    client,
    scopes.map((each) => each.uri),
  )
  const [wanted, setWanted] = useState(asked)
  const [chosen, setChosen] = useState(asked && labelFor[asked])
  // Until a person chooses, the first changeset that has files is shown. It stays, so that nothing jumps.
  const first = firstWithFiles(scopes, counts)
  const found = chosen === undefined && first && (counts.get(first.uri) ?? 0) > 0 ? first.label : chosen
  // An effect runs a moment after its drawing, and a person may have chosen meanwhile.
  useEffect(() => setChosen((now) => now ?? found), [found])
  const scope = scopes.find(({ label }) => label === found) ?? first
  const folders = session.workingDirectories ?? noFolders
  const split = layout === 'split'
  const context: ChangesContext = useMemo(
    () => ({ client, folders, comments, split, wanted, say }),
    [client, folders, comments, split, wanted, say],
  )
  if (!scope)
    return (
      <Empty title="No changes are recorded here">
        <p>This session has no folder, or the host does not record changes.</p>
      </Empty>
    )
  return (
    <ChangesProvider value={context}>
      <section class="changes" aria-label="Changes" tabIndex={0} data-scroller>
        <div class={`column${split ? ' broad' : ''}`}>
          <div class="changes-bar">
            <Choices
              label="Which changes"
              all={scopes.map(({ label, uri: each }) => ({ name: label, label, count: counts.get(each) }))}
              chosen={scope.label}
              onChoose={(label) => {
                setWanted(undefined)
                setChosen(label)
              }}
            />
            {hasRoom && (
              <Choices label="Layout of differences" all={layouts} chosen={layout} onChoose={choose} />
            )}
          </div>
          <p class="quiet">{visibleText(scope.about)}</p>
          <WorktreeNote session={session} />
          {state && (
            <SendComments
              key={uri}
              comments={unansweredComments(comments.all)}
              onSend={(all) => onMessage(state, reviewMessage(uri, all, folders))}
            />
          )}
          <ChangesetView key={scope.uri} uri={scope.uri} />
        </div>
      </section>
    </ChangesProvider>
  )
}

interface SendProps {
  readonly comments: readonly Annotation[]
  readonly onSend: (comments: readonly Annotation[]) => Promise<boolean>
}

/** Gives all comments that wait for the agent to it, as one message. Those that were sent are not offered again. */
function SendComments({ comments, onSend }: SendProps) {
  const writes = useMay('prompt')
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set())
  const waiting = comments.filter((each) => !sent.has(entryOf(each)))
  if (!writes || waiting.length === 0) return null
  const count = waiting.length === 1 ? 'my comment' : `my ${waiting.length} comments`
  const send = async () => {
    setSent((now) => new Set([...now, ...waiting.map(entryOf)]))
    if (!(await onSend(waiting))) setSent(sent)
  }
  return (
    <div class="send-comments">
      <Button look="primary" icon={SendHorizontal} onClick={() => void send()}>
        Send {count} to the agent
      </Button>
    </div>
  )
}

/** The newest entry of a comment. A comment with a new answer is offered again. */
function entryOf({ id, entries }: Annotation): string {
  return entries.at(-1)?.id ?? id
}

/** The first changeset that has files or is still computed, else the first one. */
function firstWithFiles(scopes: readonly ChangesScope[], counts: ReadonlyMap<string, number>) {
  return scopes.find(({ uri }) => counts.get(uri) !== 0) ?? scopes[0]
}

interface ChoicesProps<N extends string> {
  readonly label: string
  readonly all: readonly { readonly name: N; readonly label: string; readonly count?: number | undefined }[]
  readonly chosen: N
  readonly onChoose: (name: N) => void
}

function Choices<N extends string>({ label: group, all, chosen, onChoose }: ChoicesProps<N>) {
  return (
    <div class="scopes" role="group" aria-label={group}>
      {all.map(({ name, label, count }) => (
        <button
          key={name}
          type="button"
          class={name === chosen ? 'selected' : ''}
          aria-pressed={name === chosen}
          {...(count !== undefined && { 'aria-description': count === 1 ? '1 file' : `${count} files` })}
          onClick={() => onChoose(name)}
        >
          {label}
          {count !== undefined && (
            <span class="count" aria-hidden="true">
              {count}
            </span>
          )}
        </button>
      ))}
    </div>
  )
}

/** The worktree that the session works in, and what the host notes about it (O56.1). */
function WorktreeNote({ session }: { readonly session: SessionState }) {
  const worktree = ownMember(session, 'worktree')
  const branch = textMember(worktree, 'branch')
  const main = textMember(worktree, 'main')
  if (branch === undefined || main === undefined) return null
  return (
    <p class="quiet">
      This session works in a worktree of its own, on the branch {visibleText(branch)}. “Apply” brings its
      changes into {visibleText(main.replace(/^file:\/\//, ''))}.
    </p>
  )
}
