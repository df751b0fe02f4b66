internal import CassetteModel

/// Numbers for the connections of several cassettes, each of which counts its own from 1.
struct ConnectionNumbers {
    private struct Key: Hashable {
        var input: Int
        var id: Int
    }

    private var numbers: [Key: Int] = [:]

    mutating func number(of connection: ConnectionInfo, input: Int) -> Int {
        let key = Key(input: input, id: connection.id)
        if let number = self.numbers[key] { return number }
        let number = self.numbers.count + 1
        self.numbers[key] = number
        return number
    }
}
