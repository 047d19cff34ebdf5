# frozen_string_literal: true

require "set"

=begin
Sends mail, at most so many an hour.
=end
module Mailing
  LIMIT = 100

  Address = Struct.new(:name, :host) do
    def to_s
      "#{name}@#{host}"
    end
  end

  class Error < StandardError; end

  module Countable
    def count
      @count ||= 0
    end

    def count=(value)
      @count = value
    end
  end

  class Mailer
    include Countable
    attr_reader :sent

    class << self
      def default
        @default ||= new(LIMIT)
      end

      private

      def reset!
        @default = nil
      end
    end

    def self.open(host, port: 25, **options, &block)
      new(LIMIT).tap { |mailer| block&.call(mailer, host, port, options) }
    end

    def initialize(limit)
      @limit = limit
      @sent = Set.new
    end

    def deliver(
      to, # an Address
      text = <<~TEXT
        def not_a_method
        end
      TEXT
    )
      return false if full?

      def helper_inside
        1
      end
      @sent << [to, text]
      true
    rescue Error => e
      warn e.message
      false
    end

    def full? = @sent.size >= @limit

    def <<(mail)
      deliver(*mail)
      self
    end

    def [](index)
      @sent.to_a[index]
    end

    private def log(line)
      puts line if $DEBUG
    end

    define_method(:flush) do
      @sent.clear
    end
  end

  class Mailer::Queue
    def push(mail); end
  end
end

class Mailing::Report < Mailing::Mailer
  def deliver(...)
    super
  end
end

def mail_now(text)
  Mailing::Mailer.default << [nil, text]
end

printer = Object.new
def printer.print(text)
  puts text
end
