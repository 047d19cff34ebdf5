pub struct Cache {
    items: Vec<u8>,
}

impl Cache {
    pub fn new() -> Self {
        Cache { items: vec![] }
    }

    pub fn len(&self) -> usize {
        self.items.len(
    }

    pub fn clear(&mut self) {
        self.items.clear();
    }
}

<<<<<<< HEAD
fn first(cache: &Cache) -> u8 {
    cache.items[0]
}
=======
fn last(cache: &Cache) -> u8 {
    cache.items[cache.len() - 1]
}
>>>>>>> feature

fn half(cache: &Cache,

enum State {
    Full,
    Empty,
}
