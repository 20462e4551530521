import type { Uri } from '../channel.ts'

interface WithDirectories {
  readonly workingDirectories?: readonly Uri[]
}

/**
 * Adds a working directory. Working directories are a set, in the order of their arrival. Sessions and chats share the
 * reducer cases in this file.
 */
export function directorySet<S extends WithDirectories>(
  state: S,
  { directory }: { readonly directory: Uri },
): S {
  const directories = state.workingDirectories ?? []
  return directories.includes(directory)
    ? state
    : { ...state, workingDirectories: [...directories, directory] }
}

export function directoryRemoved<S extends WithDirectories>(
  state: S,
  { directory }: { readonly directory: Uri },
): S {
  const at = state.workingDirectories?.indexOf(directory) ?? -1
  if (!state.workingDirectories || at < 0) return state
  return { ...state, workingDirectories: state.workingDirectories.toSpliced(at, 1) }
}

/**
 * Replaces a directory at its position. If the replacement is earlier in the list, it stays there, and the directory is only
 * removed. The replacement is in the list only once.
 */
export function directoryReplaced<S extends WithDirectories>(
  state: S,
  { directory, replacement }: { readonly directory: Uri; readonly replacement: Uri },
): S {
  const list = state.workingDirectories ?? []
  const slot = list.indexOf(directory)
  if (slot < 0) return state
  const earlier = list.indexOf(replacement)
  const keepsEarlier = earlier >= 0 && earlier < slot
  const workingDirectories = keepsEarlier
    ? list.toSpliced(slot, 1)
    : list.with(slot, replacement).filter((item, i) => i <= slot || item !== replacement)
  return { ...state, workingDirectories }
}
