import Foundation

/// Does one thing with URLSession and prints the result, in a process of its own: some of these things kill the process.
///
///     ClientProbe fact NAME              a URLProtocol as people write it, with URLSession
///     ClientProbe safe NAME              the same through a session of Wiretape
///     ClientProbe behave live|recording|facade|adapter|proxy… NAME ORIGIN
///                                        the result of a behaviour at an origin, as lines in a JSON array
///     ClientProbe stress --adapter|--facade|--unsafe [--requests 1000] [--cancels SEED]
///     ClientProbe bench [--requests 20000] [--rounds 5]
///     ClientProbe list
@main struct ClientProbe {
    static func main() async {
        Process.dieQuietly()
        var arguments = Arguments(CommandLine.arguments.dropFirst())
        do {
            switch arguments.next() {
            case "fact": print(try await Fact.named(arguments.next()).run())
            case "safe": print(try await SafeWay.named(arguments.next()).run())
            case "behave": print(try await BehaviourRun(&arguments).run())
            case "stress": try StressRun(&arguments).run()
            case "bench": try await Bench(&arguments).run()
            case "list": print((Fact.allCases.map { "fact \($0)" } + SafeWay.allCases.map { "safe \($0)" }).joined(separator: "\n"))
            case let other: throw ProbeError("\"\(other ?? "")\" is nothing to do: run it with fact, safe, behave, stress, bench or list")
            }
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }
}
