import type { ChangesetOperation, ChangesetState } from '@atrium/protocol/changeset/state'
import { useState } from 'preact/hooks'
import { offers } from '../../link/extension.ts'
import { useLiveChannel } from '../../link/live-channel.ts'
import { useMay } from '../../link/role.ts'
import { failureOf } from '../../link/outcome-words.ts'
import { Button } from '../../ui/button.tsx'
import { visibleText } from '../shared/text.ts'
import { ChangedFile } from './changed-file.tsx'
import { CommitDialog } from './commit-dialog.tsx'
import { Conflicts } from './conflicts.tsx'
import { filesIn } from './file-branches.ts'
import { FileTree, treeOf } from './file-tree.tsx'
import { useChanges } from './context.ts'
import { OperationButton } from './operation-button.tsx'

interface Props {
  readonly uri: string
}

/** Number of files up to which all diffs are open at first. */
const openedFiles = 5

/** A changeset: what can be done with all of it, the conflicts of an undo, and its files. */
export function ChangesetView({ uri }: Props) {
  const { client, folders, say } = useChanges()
  /**
   * The file that was chosen last in the tree, and how often files were chosen, so that a second choice of the same
   * file counts.
   */
  const [sought, setSought] = useState({ id: '', count: 0 })
  const { state, status, problem, dispatch } = useLiveChannel(client, 'changeset', uri)
  if (status === 'gone') return <p class="problem">The changes cannot be shown: {problem?.message}</p>
  if (!state || state.status === 'computing') return <p class="quiet">Comparing files…</p>
  const { files, operations = [], error } = state
  const tree = treeOf(files, folders)
  const review = (id: string, reviewed: boolean) =>
    void dispatch({ type: 'changeset/filesReviewChanged', files: [id], reviewed }).then((outcome) => {
      const failure = failureOf(outcome)
      if (failure !== undefined) say(failure)
    })
  return (
    <>
      {error && <p class="problem">{error.message}</p>}
      <ChangesetHead uri={uri} state={state} />
      <Conflicts channel={uri} files={files} operations={operations} />
      {files.length > 1 && (
        <FileTree tree={tree} onOpen={({ id }) => setSought({ id, count: sought.count + 1 })} />
      )}
      {filesIn(tree).map((file) => (
        <ChangedFile
          key={file.id}
          channel={uri}
          file={file}
          operations={operations}
          opened={files.length <= openedFiles}
          sought={sought.id === file.id ? sought.count : 0}
          onReview={(reviewed) => review(file.id, reviewed)}
        />
      ))}
    </>
  )
}

function ChangesetHead({ uri, state }: Props & { readonly state: ChangesetState }) {
  const { client, wanted } = useChanges()
  const owns = useMay('own')
  const [committing, setCommitting] = useState(wanted === 'commit')
  const { files, operations = [] } = state
  const writesMessages = offers(client, 'x-atrium/commit')
  const commits = writesMessages && operations.some(({ id }) => id === 'commit') && files.length > 0
  const whole = operations.filter(
    ({ id, scopes }) => scopes.includes('changeset') && !(id === 'commit' && writesMessages),
  )
  return (
    <>
      <div class="changed-row">
        <span class="quiet">
          {files.length === 0 ? 'No files differ.' : files.length === 1 ? '1 file' : `${files.length} files`}
          {state.status === 'recomputing' && ', comparing again…'}
        </span>
        {whole.filter(isOffered).map((operation) => (
          <OperationButton
            key={operation.id}
            channel={uri}
            operation={operation}
            asked={wanted === operation.id}
          />
        ))}
        {commits && (
          <Button look="primary" onClick={() => setCommitting(true)}>
            Commit…
          </Button>
        )}
      </div>
      {!owns && whole.length > 0 && (
        <p class="quiet">To undo, commit or apply, this device needs the role “own”.</p>
      )}
      {owns &&
        whole.map(
          ({ id, label, status, description }) =>
            status === 'disabled' &&
            description !== undefined && (
              <p key={id} class="quiet">
                {visibleText(label)} is not possible now: {visibleText(description)}
              </p>
            ),
        )}
      {committing && commits && (
        <CommitDialog channel={uri} files={files} onClose={() => setCommitting(false)} />
      )}
    </>
  )
}

/** Whether an operation is shown. One that is disabled is shown only if the host says why, so that nobody searches for it. */
function isOffered({ status, description }: ChangesetOperation): boolean {
  return status !== 'disabled' || description !== undefined
}
