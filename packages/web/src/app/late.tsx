import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Empty } from '../ui/empty.tsx'

/**
 * A component whose code is loaded when it is first shown, so that the first load of the page is small.
 *
 * @param opening The sentence that is shown until then.
 */
export function late<P extends object>(
  load: () => Promise<FunctionComponent<P>>,
  opening: string,
): FunctionComponent<P> {
  let loaded: FunctionComponent<P> | undefined
  return function Late(props: P) {
    const [View, setView] = useState(() => loaded)
    const [failed, setFailed] = useState(false)
    useEffect(() => {
      if (loaded) return
      load().then(
        (found) => {
          loaded = found
          setView(() => found)
        },
        () => setFailed(true),
      )
    }, [])
    if (failed) return <Empty title="This part of the page could not be loaded. Reload the page." />
    if (!View) return <Empty title={opening} />
    return <View {...props} />
  }
}
