internal import Platform

/// Measures what reads bodies and WebSockets beside the least that such reading can cost, one after the other within each round.
///
/// Arguments: the number of rounds, and cassettes of 1,000 and 100,000 exchanges to look requests up in. Prints the medians and whether
/// each mark is hit. The status is 1 when one is missed.
@main
struct ReadersCommand {
    static func main() {
        let rounds = CommandLine.argc > 1 ? max(1, Int(CommandLine.arguments[1]) ?? 7) : 7
        var marks = MultipartSpeed.marks(rounds: rounds) + PartsSpeed.marks(rounds: rounds) + InflateSpeed.marks(rounds: rounds)
        marks += SurveySpeed.marks(rounds: rounds)
        marks += WebSocketSpeed.marks(rounds: rounds)
        if CommandLine.argc == 4 {
            marks += LookupSpeed.marks(cassettes: (CommandLine.arguments[2], CommandLine.arguments[3]), rounds: rounds)
        }
        var isHit = true
        for mark in marks {
            print(mark.line)
            isHit = isHit && mark.isHit
        }
        exit(isHit ? 0 : 1)
    }
}
