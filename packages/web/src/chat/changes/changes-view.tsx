import type { Client } from '@atrium/client/client'
import type { SessionState } from '@atrium/protocol/session/state'
import { useState } from 'preact/hooks'
import { useLiveChannel } from '../../link/live-channel.ts'
import { Empty } from '../../ui/empty.tsx'
import { ChangedFile } from './changed-file.tsx'
import { OperationButton } from './operation-button.tsx'
import { scopesOf } from './scopes.ts'

interface Props {
  readonly client: Client
  readonly session: SessionState
  readonly chat: string
  readonly say: (text: string) => void
}

/** What the turns of a session have done to its files. */
export function ChangesView({ client, session, chat, say }: Props) {
  const { state } = useLiveChannel(client, 'chat', chat, 1)
  const scopes = scopesOf(session, state)
  const [chosen, setChosen] = useState<string>()
  const scope = scopes.find(({ label }) => label === chosen) ?? scopes[0]
  if (!scope)
    return (
      <Empty title="No changes are recorded here">
        <p>The host records the files of a session that has a folder.</p>
      </Empty>
    )
  return (
    <section class="changes" aria-label="Changes" tabIndex={0}>
      <div class="column">
        <div class="scopes" role="group" aria-label="Which changes">
          {scopes.map(({ label, uri }) => (
            <button
              key={uri}
              type="button"
              class={label === scope.label ? 'selected' : ''}
              aria-pressed={label === scope.label}
              onClick={() => setChosen(label)}
            >
              {label}
            </button>
          ))}
        </div>
        <ChangesetView
          key={scope.uri}
          client={client}
          uri={scope.uri}
          folders={session.workingDirectories ?? []}
          say={say}
        />
      </div>
    </section>
  )
}

interface ChangesetProps {
  readonly client: Client
  readonly uri: string
  readonly folders: readonly string[]
  readonly say: (text: string) => void
}

/** Number of files up to which all diffs are open at first. */
const openedFiles = 5

function ChangesetView({ client, uri, folders, say }: ChangesetProps) {
  const { state, status, problem, dispatch } = useLiveChannel(client, 'changeset', uri)
  if (status === 'gone') return <p class="problem">The changes cannot be shown: {problem?.message}</p>
  if (!state || state.status === 'computing') return <p class="quiet">Comparing files…</p>
  const { files, operations = [], error } = state
  const offered = (scope: string) =>
    operations.filter(({ scopes, status: now }) => scopes.includes(scope) && now !== 'disabled')
  return (
    <>
      {error && <p class="problem">{error.message}</p>}
      <div class="changed-row">
        <span class="quiet">
          {files.length === 0 ? 'No files differ.' : files.length === 1 ? '1 file' : `${files.length} files`}
          {state.status === 'recomputing' && ', comparing again…'}
        </span>
        {offered('changeset').map((operation) => (
          <OperationButton key={operation.id} client={client} channel={uri} operation={operation} say={say} />
        ))}
      </div>
      {files.map((file) => (
        <ChangedFile
          key={file.id}
          client={client}
          channel={uri}
          file={file}
          folders={folders}
          operations={offered('resource')}
          opened={files.length <= openedFiles}
          onReview={(reviewed) =>
            void dispatch({ type: 'changeset/filesReviewChanged', files: [file.id], reviewed })
          }
          say={say}
        />
      ))}
    </>
  )
}
