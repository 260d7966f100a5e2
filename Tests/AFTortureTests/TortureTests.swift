import AFTorture
import Testing

enum TortureTests {}
