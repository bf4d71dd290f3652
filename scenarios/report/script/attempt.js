// Drawing part by part, and telling what goes wrong.
function tellError(error) {
  const told = document.documentElement.dataset;
  told.errors = (told.errors ? `${told.errors}\n` : '') + (error?.stack ?? String(error));
}

/** One part that cannot be drawn leaves the others alone. */
function attempt(draw) {
  try {
    draw();
  } catch (error) {
    tellError(error);
  }
}
