import { keyWords, useOffered } from '../ui/commands.ts'
import type { Command } from '../ui/commands.ts'
import { Dialog } from '../ui/dialog.tsx'

interface Props {
  readonly singleKeys: boolean
  readonly onSingleKeys: (on: boolean) => void
  readonly onClose: () => void
}

/** The keys of the message field. They are listed here, because they are not among the commands of the page. */
const writing = [
  ['Enter', 'Send, or add to the queue during a turn'],
  ['Shift+Enter', 'New line'],
  ['Ctrl+Enter', 'Send into the active turn'],
  ['@  #  /', 'Suggest files, chats and commands'],
] as const

/** The dialog that lists all keys which work on the present screen. */
export function ShortcutsDialog({ singleKeys, onSingleKeys, onClose }: Props) {
  const commands = useOffered().toSorted((a, b) => rankOf(a).localeCompare(rankOf(b)))
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {commands.map(
          ({ id, label, keys }) => keys !== undefined && <Row key={id} keys={keyWords(keys)} label={label} />,
        )}
        {writing.map(([keys, label]) => (
          <Row key={keys} keys={keys} label={label} />
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={singleKeys}
          onChange={(event) => onSingleKeys(event.currentTarget.checked)}
        />
        <span>Keys without Ctrl are shortcuts, too, where nobody types</span>
      </label>
    </Dialog>
  )
}

/** Returns the sort key of a command: keys that work everywhere come first, then signs, numbers and letters. */
function rankOf({ keys = '' }: Command): string {
  return `${keys.length > 1 ? 0 : 1}${keys}`
}

function Row({ keys, label }: { readonly keys: string; readonly label: string }) {
  return (
    <div>
      <dt>
        <kbd>{keys}</kbd>
      </dt>
      <dd>{label}</dd>
    </div>
  )
}
