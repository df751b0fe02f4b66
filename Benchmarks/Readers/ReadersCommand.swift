#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Measures what reads bodies beside the least that such reading can cost, one after the other within each round.
///
/// Prints the medians and whether each mark is hit. The status is 1 when one is missed.
@main
struct ReadersCommand {
    static func main() {
        let rounds = CommandLine.argc > 1 ? max(1, Int(CommandLine.arguments[1]) ?? 7) : 7
        var isHit = true
        for mark in MultipartSpeed.marks(rounds: rounds) + PartsSpeed.marks(rounds: rounds) + InflateSpeed.marks(rounds: rounds) {
            print(mark.line)
            isHit = isHit && mark.isHit
        }
        exit(isHit ? 0 : 1)
    }
}
