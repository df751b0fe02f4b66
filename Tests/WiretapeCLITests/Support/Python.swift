/// Python 3: clients, odd origins, and JSON readers that share no code with the tested program.
enum Python {
    static func run(_ script: String, _ arguments: [String], environment: [String: String] = [:]) throws -> ExternalProgram.Ended {
        try ExternalProgram.run(try Programs.find("python3"), [Programs.fixture(script)] + arguments, environment: environment)
    }

    /// An origin that prints its URL, and runs until it is stopped.
    static func origin(_ script: String, _ arguments: [String] = []) throws -> (program: ExternalProgram, port: Int) {
        let program = try ExternalProgram(try Programs.find("python3"), [Programs.fixture(script)] + arguments)
        do {
            return (program, try program.port())
        } catch {
            program.stop()
            throw error
        }
    }
}
