import { agentBench } from './agent/agent.ts'
import { automationsBench } from './automations/automations.ts'
import { changesBench } from './changes/changes.ts'
import { clientBench } from './client/client.ts'
import { clusterBench } from './cluster/cluster.ts'
import { runBench } from './figures.ts'
import { growthBench } from './growth/growth.ts'
import { hostBench } from './host.ts'
import { loadBench } from './load/load.ts'
import { writePage } from './page.ts'
import { searchBench } from './search/search.ts'
import { turnBench } from './turn/turn.ts'
import { webBench } from './web/web.ts'
import { workspaceBench } from './workspace/workspace.ts'

/**
 * Each bench prints ratios that it measured in one run, and returns whether its goals were met. `wanted` names the parts
 * of the bench to run; if it is empty, all parts run.
 */
const benches: { readonly [name: string]: (wanted: readonly string[]) => Promise<boolean> } = {
  client: clientBench,
  host: hostBench,
  turn: turnBench,
  load: loadBench,
  growth: growthBench,
  agent: agentBench,
  workspace: workspaceBench,
  changes: changesBench,
  search: searchBench,
  web: webBench,
  cluster: clusterBench,
  automations: automationsBench,
}

// Without a name all benches run, and write their figures to the page of measurements. `--page` does so after one.
const given = process.argv.slice(2)
const [name, ...wanted] = given.filter((each) => each !== '--page')
const names = name === undefined ? Object.keys(benches) : [name]
if (names.every((each) => Object.hasOwn(benches, each))) {
  console.log(`Node ${process.version}, ${process.arch}`)
  for (const each of names)
    if (!(await runBench(each, async () => (await benches[each]?.(wanted)) ?? false))) process.exitCode = 1
  if (name === undefined || given.includes('--page')) writePage(Object.keys(benches))
} else {
  process.stderr.write(`usage: npm run bench -- [${Object.keys(benches).join(' | ')}] [--page]\n`)
  process.exitCode = 2
}
