import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/** Tests of the core: they start no process, and each file takes little time. */
const core = /\/packages\/(?:client|host|protocol)\//

/**
 * The order of the files: those of the core come last. A file that waits for processes may take a minute, however short it is. If it
 * came last, all workers but one would have nothing left to do.
 */
export default class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => Number(core.test(moduleId))
    // oxlint-disable-next-line no-array-sort -- This sorts as Vitest does, into a new array.
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
