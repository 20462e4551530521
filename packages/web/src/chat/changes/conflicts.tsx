import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol/changeset/state'
import { ownMember } from '../shared/member.ts'
import { visibleText } from '../shared/text.ts'
import { uriOf } from './changed-file.tsx'
import { useChanges } from './context.ts'
import { OperationButton } from './operation-button.tsx'
import { pathIn } from './scopes.ts'

interface Props {
  readonly channel: string
  readonly files: readonly ChangesetFile[]
  readonly operations: readonly ChangesetOperation[]
}

const reasons: { readonly [verdict: string]: string } = {
  shared: 'others may have changed it during the turn',
  changed: 'it was changed after the turn',
}

function reasonOf(file: ChangesetFile): string | undefined {
  const verdict = String(ownMember(file, 'undo'))
  if (verdict !== 'uncertain') return reasons[verdict]
  const during = ownMember(file, 'during')
  return `changed while ${typeof during === 'string' ? visibleText(during) : 'a call'} ran; it may be a person's work`
}

/**
 * The files that an undo leaves as they are, because others changed them, too, or may have. A person decides about each
 * (O38). An uncertain file is never set back without a copy, so it has no button for that.
 */
export function Conflicts({ channel, files, operations }: Props) {
  const { folders } = useChanges()
  const choices = operations.filter(({ group }) => group === 'conflict')
  const conflicts = files.flatMap((file) => {
    const reason = reasonOf(file)
    const isUncertain = ownMember(file, 'undo') === 'uncertain'
    return reason === undefined ? [] : [{ uri: uriOf(file), reason, isUncertain }]
  })
  if (choices.length === 0 || conflicts.length === 0) return null
  return (
    <section class="conflicts" aria-label="Conflicts of an undo">
      <p class="conflicts-title">An undo leaves these files as they are. Decide about each of them.</p>
      <ul>
        {conflicts.map(({ uri, reason, isUncertain }) => (
          <li key={uri}>
            <span class="conflict-file">
              <span class="changed-path">{visibleText(pathIn(uri, folders))}</span>
              <span class="quiet">{reason}</span>
            </span>
            <span class="choices">
              {choices
                .filter(({ id }) => !(isUncertain && id === 'undo-anyway'))
                .map((operation) => (
                  <OperationButton
                    key={operation.id}
                    channel={channel}
                    operation={operation}
                    target={{ kind: 'resource', resource: uri }}
                    about={visibleText(pathIn(uri, folders))}
                  />
                ))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
