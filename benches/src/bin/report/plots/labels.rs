//! Names at the ends of lines, moved apart where the lines end close together.

/// Positions for labels that should be at `wanted`: each at least `gap` from the next, within
/// `room` if it is large enough, and in the order of `wanted`. NaN stays NaN: it has no position.
pub(super) fn spread(wanted: &[f64], gap: f64, room: (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).filter(|&index| wanted[index].is_finite()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = wanted.to_vec();
    let mut free_from = room.0;
    for &index in &order {
        places[index] = places[index].max(free_from);
        free_from = places[index] + gap;
    }
    let mut free_to = room.1;
    for &index in order.iter().rev() {
        places[index] = places[index].min(free_to);
        free_to = places[index] - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_are_far_apart_stay() {
        assert_eq!(spread(&[50.0, 10.0], 14.0, (0.0, 100.0)), [50.0, 10.0]);
    }

    #[test]
    fn labels_at_one_place_are_moved_apart_within_the_room() {
        assert_eq!(spread(&[98.0, 99.0, 97.0], 14.0, (0.0, 100.0)), [86.0, 100.0, 72.0]);
        assert_eq!(spread(&[1.0, 0.0], 14.0, (0.0, 100.0)), [14.0, 0.0]);
    }

    #[test]
    fn a_label_without_a_line_is_nowhere_and_in_nobodys_way() {
        let places = spread(&[f64::NAN, 5.0], 14.0, (0.0, 100.0));
        assert!(places[0].is_nan() && places[1] == 5.0);
    }
}
