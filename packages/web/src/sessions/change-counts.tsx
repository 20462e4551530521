import type { ChangesSummary } from '@atrium/protocol/common/content'

/** How many lines a session has added and removed. Nothing, if it has changed no file. */
export function ChangeCounts({ changes }: { readonly changes: ChangesSummary | undefined }) {
  const { additions = 0, deletions = 0, files = 0 } = changes ?? {}
  if (files === 0) return null
  return (
    <span class="change-counts" title={`${files} ${files === 1 ? 'file' : 'files'} changed`}>
      <span class="added">+{additions}</span> <span class="removed">−{deletions}</span>
    </span>
  )
}
