// The page of a scenario's runs. The data are those of report_data.cpp.
function drawRun(run) {
  let findPorts = () => {};
  attempt(() => drawSampled(run));
  attempt(() => drawInsides(run));
  attempt(() => {
    findPorts = drawPorts(run);
  });
  attempt(() => drawTopology(byId('picture'), run, (name) => {
    findPorts(name);
    byId('ports').scrollIntoView();
  }));
  attempt(() => drawFlows(run));
}

function offerRuns(runs) {
  const choice = make('select', {id: 'run-choice', onchange: (event) => drawRun(runs[Number(event.currentTarget.value)])},
    ...runs.map((run, index) => make('option', {value: index}, shorten(run.label, 80))));
  byId('runs').append(make('p', {class: 'tools'}, make('label', {for: 'run-choice'}, 'Everything below is about the run'), choice));
}

function drawReport() {
  const {runs} = JSON.parse(byId('data').textContent);
  setUpCharts();
  if (runs.length > 1) offerRuns(runs);
  attempt(() => drawSlowdown(byId('slowdown'), runs));
  attempt(() => drawDistribution(byId('distribution'), runs));
  attempt(() => drawGoodput(byId('goodput'), runs));
  if (runs.length > 0) drawRun(runs[0]);
}

attempt(drawReport);
// Told to whoever waits for it: everything is there.
document.documentElement.dataset.report = 'drawn';
