import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import { useState } from 'preact/hooks'
import { askExtension } from '../../link/extension.ts'
import { failedRequest, failureWords } from '../../link/outcome-words.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { GrowingText } from '../../ui/growing-text.tsx'
import { textMember } from '../shared/member.ts'
import { visibleText } from '../shared/text.ts'
import { useChanges } from './context.ts'
import { pathIn } from './scopes.ts'

interface Props {
  readonly channel: string
  readonly files: readonly ChangesetFile[]
  readonly onClose: () => void
}

/** Asks for the message and the files of a commit. If the host refuses, the dialog stays open and shows the reason. */
export function CommitDialog({ channel, files, onClose }: Props) {
  const { client, folders, say } = useChanges()
  const [message, setMessage] = useState('')
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const chosen = files.filter(({ id }) => !left.has(id))
  const ready = message.trim() !== '' && chosen.length > 0 && !busy
  const commit = async () => {
    if (!ready) return
    setBusy(true)
    setProblem(undefined)
    try {
      const params = { channel, message, files: chosen.map(({ id }) => id) }
      const answer = await askExtension(client, 'x-atrium/commit', params)
      say(visibleText(textMember(answer, 'message') ?? 'Committed.'))
      onClose()
    } catch (error) {
      setProblem(failureWords(failedRequest(error), 'Nothing was committed', 'this was committed'))
      setBusy(false)
    }
  }
  const toggle = (id: string, taken: boolean) =>
    setLeft(new Set(taken ? [...left].filter((each) => each !== id) : [...left, id]))
  return (
    <Dialog title="Commit" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void commit()
        }}
      >
        <div class="field">
          <span>Message</span>
          <GrowingText
            value={message}
            label="Commit message"
            placeholder="What has changed, and why"
            rows={3}
            autoFocus
            onInput={setMessage}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void commit()
            }}
          />
        </div>
        <fieldset class="commit-files">
          <legend>Files, as they are on the disk</legend>
          {files.map(({ id }) => (
            <label key={id} class="check">
              <input
                type="checkbox"
                checked={!left.has(id)}
                onChange={(event) => toggle(id, event.currentTarget.checked)}
              />
              <span class="changed-path">{visibleText(pathIn(id, folders))}</span>
            </label>
          ))}
        </fieldset>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button submit look="primary" disabled={!ready}>
            {busy ? 'Committing…' : chosen.length === 1 ? 'Commit 1 file' : `Commit ${chosen.length} files`}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
