/// A filter as it was understood.
indirect enum FilterExpression {
    case flag(FilterTerm)
    case status(Int)
    case pattern(FilterTerm, FilterPattern)
    case not(FilterExpression)
    case and(FilterExpression, FilterExpression)
    case or(FilterExpression, FilterExpression)
}
