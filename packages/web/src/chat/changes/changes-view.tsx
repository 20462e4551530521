import type { Client } from '@atrium/client/client'
import type { SessionState } from '@atrium/protocol/session/state'
import { useMemo, useState } from 'preact/hooks'
import { useLiveChannel } from '../../link/live-channel.ts'
import { Empty } from '../../ui/empty.tsx'
import { ownMember, textMember } from '../shared/member.ts'
import { visibleText } from '../shared/text.ts'
import { ChangesetView } from './changeset-view.tsx'
import { useComments } from './comments.ts'
import { ChangesProvider } from './context.ts'
import type { ChangesContext } from './context.ts'
import { useDiffLayout } from './layout.ts'
import type { DiffLayout } from './layout.ts'
import { scopesOf } from './scopes.ts'

interface Props {
  readonly client: Client
  readonly uri: string
  readonly session: SessionState
  readonly chat: string
  readonly say: (text: string) => void
}

const layouts: readonly { readonly name: DiffLayout; readonly label: string }[] = [
  { name: 'unified', label: 'One column' },
  { name: 'split', label: 'Side by side' },
]
const noFolders: readonly string[] = []

/** The view of the changes that the turns of a session have made to its files. */
export function ChangesView({ client, uri, session, chat, say }: Props) {
  const { state } = useLiveChannel(client, 'chat', chat, 1)
  const comments = useComments(client, uri, say)
  const { layout, hasRoom, choose } = useDiffLayout()
  const scopes = scopesOf(session, state)
  const [chosen, setChosen] = useState<string>()
  const scope = scopes.find(({ label }) => label === chosen) ?? scopes[0]
  const folders = session.workingDirectories ?? noFolders
  const split = layout === 'split'
  const context: ChangesContext = useMemo(
    () => ({ client, folders, comments, split, say }),
    [client, folders, comments, split, say],
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
              all={scopes.map(({ label }) => ({ name: label, label }))}
              chosen={scope.label}
              onChoose={setChosen}
            />
            {hasRoom && (
              <Choices label="Layout of differences" all={layouts} chosen={layout} onChoose={choose} />
            )}
          </div>
          <WorktreeNote session={session} />
          <ChangesetView key={scope.uri} uri={scope.uri} />
        </div>
      </section>
    </ChangesProvider>
  )
}

interface ChoicesProps<N extends string> {
  readonly label: string
  readonly all: readonly { readonly name: N; readonly label: string }[]
  readonly chosen: N
  readonly onChoose: (name: N) => void
}

function Choices<N extends string>({ label: group, all, chosen, onChoose }: ChoicesProps<N>) {
  return (
    <div class="scopes" role="group" aria-label={group}>
      {all.map(({ name, label }) => (
        <button
          key={name}
          type="button"
          class={name === chosen ? 'selected' : ''}
          aria-pressed={name === chosen}
          onClick={() => onChoose(name)}
        >
          {label}
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
