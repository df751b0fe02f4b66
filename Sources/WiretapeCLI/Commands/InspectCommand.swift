internal import ArgumentParser

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "inspect")
    @Argument var file: String
    func run() throws {}
}
