import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import { Check, File, Folder } from 'lucide'
import { Icon } from '../../ui/icon.tsx'
import { visibleText } from '../shared/text.ts'
import { uriOf } from './changed-file.tsx'
import { branchesOf } from './file-branches.ts'
import type { Branch } from './file-branches.ts'
import { pathIn } from './scopes.ts'

interface Props {
  readonly tree: readonly Branch<ChangesetFile>[]
  readonly onOpen: (file: ChangesetFile) => void
}

/** The changed files by folder. A click opens the difference of a file. */
export function FileTree({ tree, onOpen }: Props) {
  return (
    <nav class="file-tree" aria-label="Changed files">
      <Branches branches={tree} onOpen={onOpen} />
    </nav>
  )
}

/** The tree of changed files, by their paths in the folders of the session. */
export function treeOf(files: readonly ChangesetFile[], folders: readonly string[]) {
  return branchesOf(files.map((file) => ({ path: visibleText(pathIn(uriOf(file), folders)), file })))
}

interface BranchesProps extends Pick<Props, 'onOpen'> {
  readonly branches: readonly Branch<ChangesetFile>[]
}

function Branches({ branches, onOpen }: BranchesProps) {
  return (
    <ul>
      {branches.map(({ name, file, branches: inside }) => (
        <li key={name}>
          {file ? (
            <button type="button" class={file.reviewed ? 'reviewed' : ''} onClick={() => onOpen(file)}>
              <Icon of={File} size={13} /> <span>{name}</span>
              {file.reviewed && <Icon of={Check} size={13} label="reviewed" />}
              {file.edit.diff?.added !== undefined && <span class="plus">+{file.edit.diff.added}</span>}
              {file.edit.diff?.removed !== undefined && <span class="minus">−{file.edit.diff.removed}</span>}
            </button>
          ) : (
            <>
              <span class="file-folder">
                <Icon of={Folder} size={13} /> {name}
              </span>
              <Branches branches={inside} onOpen={onOpen} />
            </>
          )}
        </li>
      ))}
    </ul>
  )
}
